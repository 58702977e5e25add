# cc -E -dD out_of_line.c | awk -v own=DIR/ -v source=FILE -f declarations.awk
# Writes causeway/bindings.h: the types of the headers in DIR, their constants, and a prototype for
# each public function, whether it is inline there or not. What FILE itself defines counts as theirs.

# The one name among these that a client defines, not the library, is left out.
function public(name) {
  return name ~ /^(gex|gasnet|gasnett)_/ && name != "gasnett_backtrace_user"
}

# Takes `__attribute__((...))` out, whatever is nested in it.
function without_attributes(text,   at, i, depth, c) {
  while ((at = match(text, /__attribute__ *\(/)) > 0) {
    depth = 0
    for (i = at + RLENGTH - 1; i <= length(text); ++i) {
      c = substr(text, i, 1)
      if (c == "(") ++depth
      if (c == ")" && --depth == 0) break
    }
    text = substr(text, 1, at - 1) substr(text, i + 1)
  }
  return text
}

function tidy(text) {
  gsub(/[ \t\n]+/, " ", text)
  gsub(/^ | $/, "", text)
  gsub(/ ;$/, ";", text)
  return text
}

# The name that a declaration declares: in front of the first parenthesis, in `(*name)(...)` within
# it, and without any the last word.
function declared(text) {
  if (match(text, /\(\* *[A-Za-z_0-9]+\)/)) {
    text = substr(text, RSTART, RLENGTH)
    gsub(/[(*) ]/, "", text)
    return text
  }
  sub(/ *[(;].*/, "", text)
  sub(/.*[ *]/, "", text)
  return text
}

function declare(text) {
  text = tidy(without_attributes(text))
  gsub(/^(extern |inline )+/, "", text)
  if (public(declared(text))) lines[++count] = "extern " text ";"
}

# An item of the top level, without the `;` or the body behind it.
function item(text, has_body) {
  text = tidy(text)
  sub(/^__extension__ /, "", text)
  if (text ~ /^_Static_assert\(/) return
  if (has_body || text ~ /^(extern|inline) /) {
    declare(text)
  } else if (text ~ /^(typedef|struct|union|enum) /) {
    sub(/\(\)$/, "(void)", text)  # compilers warn of none, and a generator reads the same
    lines[++count] = text ";"
  } else if (text != "") {
    print "declarations.awk: what is this? " text >"/dev/stderr"
    failed = 1
  }
}

# Splits the text that came so far at the ends of its items.
function feed(text,   c) {
  while (match(text, /[{};]/)) {
    c = substr(text, RSTART, 1)
    # A body is passed over, unlike the members of a type.
    if (c == "{" && depth == 0) body = pending substr(text, 1, RSTART - 1) ~ /\) *$/
    if (!body || depth == 0) pending = pending substr(text, 1, RSTART - 1)
    text = substr(text, RSTART + 1)
    if (c == "{") ++depth
    if (c == "}") --depth
    if (body ? c == "}" && depth == 0 : c == ";" && depth == 0) {
      item(pending, body)
      pending = ""
      body = 0
    } else if (!body) {
      pending = pending c
    }
  }
  if (!body) pending = pending text " "
}

/^# [0-9]+ "/ {
  file = $3
  gsub(/"/, "", file)
  ours = index(file, own) == 1 || file == source
  next
}
!ours { next }
/^#undef / {
  delete constants[$2]
  next
}
# Numbers, and expressions over them: no text, no function, nothing that only a program's own
# threading mode decides.
/^#define (GEX|GASNETT?)_[A-Z0-9_a-z]+ / {
  name = $2
  value = $0
  sub(/^#define [A-Za-z0-9_]+ +/, "", value)
  # Readers of bindings evaluate no casts, and these change no value.
  gsub(/\(gex_(Flags|Rank|EP_Index|DT|OP|EP_Capabilities|EC|TI)_t\)/, "", value)
  rest = value
  gsub(/\(g[a-z]+_[A-Za-z_]+\**\)|\(uintptr_t\)|\(int\)/, "", rest)
  gsub(/(GEX|GASNETT?)_[A-Z0-9_]+/, "1", rest)
  if (name !~ /^GASNET_(SEQ|PAR|PARSYNC|NDEBUG|DEBUG)$|_CONFIG$|_VERSION$|^GASNETT_(USE|THREAD)_|PLATFORM/ &&
      rest ~ /^[-0-9a-fA-FxuUlL ()|<*~+]+$/ && rest ~ /[0-9]/) {
    if (!(name in place)) {
      place[name] = ++names
      name_at[names] = name
    }
    constants[name] = value
  }
  next
}
/^#/ { next }
{ feed($0) }

# Whether all names in a constant's value are constants themselves.
function complete(name,   rest, other) {
  rest = constants[name]
  while (match(rest, /(GEX|GASNETT?)_[A-Z0-9_]+/)) {
    other = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    if (other == name || !(other in constants) || !complete(other)) return 0
  }
  return 1
}

END {
  if (failed || depth != 0 || count == 0) {
    print "declarations.awk: the headers cannot be read" >"/dev/stderr"
    exit 1
  }
  print "/* causeway/bindings.h - the client interfaces as symbols of libcauseway.so."
  print " *"
  print " * SPDX-License-Identifier: BSD-3-Clause"
  print " *"
  print " * Generated from the client headers. For bindings of other languages, which read this file or"
  print " * have it read: every function is a symbol, also those that are inline for programs in C. Such a"
  print " * program includes gasnetex.h or gasnet.h instead; the two exclude each other. */"
  print "#ifndef CAUSEWAY_BINDINGS_H"
  print "#define CAUSEWAY_BINDINGS_H\n"
  print "#if defined(_INCLUDED_GASNETEX_H) || defined(_INCLUDED_GASNET_TOOLS_H)"
  print "#error \"causeway/bindings.h is for bindings of other languages, not beside gasnetex.h\""
  print "#endif\n"
  print "#include <pthread.h>\n#include <stddef.h>\n#include <stdint.h>\n"
  for (i = 1; i <= names; ++i)
    if (name_at[i] in constants && complete(name_at[i])) print "#define " name_at[i] " " constants[name_at[i]]
  print "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
  for (i = 1; i <= count; ++i)
    if (!(lines[i] in said)) {
      said[lines[i]] = 1
      print lines[i]
    }
  print "\n#ifdef __cplusplus\n}\n#endif\n\n#endif"
}
