# Prints "<lines> <file>:<line> <first line>" for every function of sources that clang-format laid out:
# a function ends with the brace that stands at the indent of its first line.
function indent_of(s) {
  match(s, /^ */)
  return RLENGTH
}
# Whether a declaration that ends with a brace is a function's: a type's, a namespace's and a table's
# are not.
function begins_function(text) {
  gsub(/alignas\([^)]*\)|__attribute__\(\([^)]*\)+|\[\[[^]]*\]\]/, "", text)
  if (text !~ /\(/ || text ~ /= *\{ *$/ || text ~ /extern "C"/) return 0
  return text !~ /^ *(template *<.*> *)?(typedef +)?(namespace|class|struct|union|enum) [^(]*\{/
}
FNR == 1 {
  body = -1
  first = 0
}
body >= 0 {
  if (indent_of($0) == body && $0 ~ /^ *\}/) {
    print FNR - first + 1, FILENAME ":" first, head
    body = -1
    first = 0
  }
  next
}
/^ *$/ || /^ *(\/\/|\/\*|\*|#)/ || /^ *(public|private|protected):/ {
  first = 0
  next
}
{
  sub(/ *\/\/.*$/, "")
  if (!first) {
    first = FNR
    head = $0
    text = ""
  }
  text = text $0
}
/[;}],?$/ { first = 0 }
/\{$/ {
  if (begins_function(text)) body = indent_of(head)
  else first = 0
}
