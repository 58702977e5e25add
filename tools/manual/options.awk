# What `causeway --help` and the help of each subcommand say, as a table of columns that tabs separate.
# Input: each help text behind a line "@ NAME", where NAME is empty for `causeway` itself.
# Output: command, kind, names, value, optional, many, words, least, most, default, remark, heading, text, what, needed
#   kind    about | foot (text only), command (a subcommand), option, positional
#   names   separated by commas, short ones first
#   value   how a page calls the value: empty where none is taken
#   words   what the value may be, separated by |
#   remark  "needs NAME" or "not with NAME"
#   what    what completes a value: file | directory | program | host | key (of the configuration)
#   needed  1 where it may not be left out
BEGIN { OFS = "\t" }

/^@ ?/ { finish(); command = substr($0, 3); heading = ""; seen_usage = 0; about = 1; next }
/^[[:space:]]*$/ { next }
tolower($0) ~ /^usage:/ { about = 0; usage = $0; next }
# A heading: "Options:", "Several hosts:".
/^[A-Za-z][A-Za-z ]*:$/ { finish(); heading = $0; sub(/:$/, "", heading); next }
about { row("about", "", $0); about = 0; next }
# An entry begins near the margin, and its text may go on further right.
/^ / {
  match($0, /^ */)
  margin = RLENGTH
  if (margin > 12) { text = text (text == "" ? "" : " ") substr($0, margin + 1); next }
  finish()
  entry = substr($0, margin + 1)
  sub(/,  +--/, ",--", entry)
  # The text stands behind two blanks at least, or on the next line.
  if (match(entry, /   *[^ ]/)) {
    text = substr(entry, RSTART + RLENGTH - 1)
    entry = substr(entry, 1, RSTART - 1)
  }
  next
}
{ finish(); row("foot", "", $0) }
END { finish() }

function finish() {
  if (entry != "") describe()
  entry = text = ""
}

function describe(names, spec, many, value, optional, words, least, most, given, remark, needed, parts) {
  names = entry
  sub(/ .*/, "", names)
  spec = substr(entry, length(names) + 2)
  if (tolower(heading) == "subcommands") { row("command", names, text); return }
  if (match(spec, / ?Excludes: [^ ]+/)) remark = "not with " last_word(cut(spec))
  sub(/ ?Excludes: [^ ]+/, "", spec)
  if (match(spec, / ?Needs: [^ ]+/)) remark = "needs " last_word(cut(spec))
  sub(/ ?Needs: [^ ]+/, "", spec)
  sub(/ ?REQUIRED/, "", spec)
  needed = index(usage, "[" names) ? "" : 1
  sub(/ +$/, "", spec)
  many = sub(/ \.\.\.$/, "", spec) ? 1 : ""
  # The default stands behind =, and from version 2.4 of the parser on in brackets.
  if (match(spec, / \[[^] ]*\]$/)) spec = substr(spec, 1, RSTART - 1) "=" substr(spec, RSTART + 2, RLENGTH - 3)
  if (spec !~ /^[A-Z]+=[A-Z]+$/ && match(spec, /=[^= ]*$/)) { given = substr(spec, RSTART + 1); spec = substr(spec, 1, RSTART - 1) }
  if (match(spec, /\{[^}]*\}/)) { words = substr(spec, RSTART + 1, RLENGTH - 2); gsub(/,/, "|", words) }
  if (match(spec, / in \[[^]]*\]/)) {
    split(substr(spec, RSTART + 5, RLENGTH - 6), parts, " - ")
    least = parts[1]
    most = parts[2]
  }
  value = spec
  sub(/:.*/, "", value)
  if (value ~ /^\[.*\]$/) { optional = 1; value = substr(value, 2, length(value) - 2) }
  if (words != "" && names ~ /^-/) value = words
  if (value == "UINT" || value == "INT") value = "N"
  if (value == "FLOAT") value = "NUMBER"
  if (names !~ /^-/) {
    if (value == "TEXT" || value == "FILE") value = toupper(names) (many ? "..." : "")
  } else {
    if (spec ~ /:FILE$/ || names ~ /--(config|output)$/ && value == "TEXT") value = "FILE"
    if (names ~ /--set$/) value = "PATH=VALUE"
    if (value == "TEXT") { value = names; sub(/.*-/, "", value); value = toupper(value) }
  }
  row(names ~ /^-/ ? "option" : "positional", names, text, value, optional, many, words, least, most, given, remark,
    what_is(value), needed)
}

# Plugins' own options, which --set of check-plugin means, stand in no list.
function what_is(value) {
  if (value ~ /^FILE/) return "file"
  if (value == "DIRECTORY") return "directory"
  if (value == "HOSTS") return "host"
  if (value ~ /PROG|RELAY/) return "program"
  return value == "PATH=VALUE" && command != "check-plugin" ? "key" : ""
}
function cut(spec) { return substr(spec, RSTART, RLENGTH) }
function last_word(text, n, words) { n = split(text, words, " "); return words[n] }
function row(kind, names, text, value, optional, many, words, least, most, given, remark, what, needed) {
  print command, kind, names, value, optional, many, words, least, most, given, remark, heading, text, what, needed
}
