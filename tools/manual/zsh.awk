# The completion for zsh. Input: the table of options.awk, the list of keys.awk.
BEGIN { FS = "\t" }
FNR == 1 { ++file }
file == 1 && $2 == "command" { commands = commands "    " quoted($3 ":" spec($13)) "\n"; next }
file == 1 && ($2 == "positional" || $2 == "option") {
  if (!($1 in arguments)) names[++count] = $1
  arguments[$1] = arguments[$1] ($2 == "option" ? option() : positional())
}
file == 2 {
  gsub(/\|/, " ", $2)
  keys = keys " " $1
  if ($2 != "") words = words "    *" $1 ") values=(" $2 ") ;;\n"
}
END {
  print "#compdef causeway"
  print "# Completion of causeway for zsh, made from what its help says.\n"
  # IPREFIX ends with the path, behind --set= where that is one word with it.
  print "_causeway_settings() {\n  local -a values\n  if ! compset -P '*='; then"
  print "    values=(" substr(keys, 2) ")\n    compadd -S = -q -a values\n    return\n  fi\n  case ${IPREFIX%=} in"
  printf "%s", words
  print "  esac\n  compadd -a values\n}\n"
  print "_causeway() {\n  local curcontext=$curcontext state line\n  local -a subcommands"
  print "  subcommands=(\n" commands "  )"
  print "  _arguments -C \\\n" arguments[""] "        ': :->command' '*:: :->arguments' && return"
  print "  if [[ $state == command ]]; then\n    _describe -t commands 'causeway command' subcommands\n    return\n  fi"
  print "  curcontext=${curcontext%:*}-$words[1]:\n  case $words[1] in"
  for (i = 1; i <= count; ++i)
    if (names[i] != "") print "    " names[i] ")\n      _arguments -s -S \\\n" ending(arguments[names[i]]) "      ;;"
  print "  esac\n}\n\n_causeway \"$@\""
}

# The last line of a command has no backslash.
function ending(lines) { sub(/ \\\n$/, "\n", lines); return lines }

function option(n, parts, i, excluded, value, what, prefix, text, out) {
  n = split($3, parts, ",")
  for (i = 1; i <= n; ++i) excluded = excluded (i > 1 ? " " : "") parts[i]
  if ($11 ~ /^not with /) excluded = excluded " " substr($11, 10)
  if ($3 ~ /--(help|version)$/) excluded = "- *"
  prefix = $6 ? "*" : "(" excluded ")"
  for (i = 1; i <= n; ++i) {
    text = prefix parts[i]
    if ($4 != "") {
      text = text (parts[i] ~ /^--/ ? "=" : "+")
      value = ($5 ? "::" : ":") spec($4) ":" action()
    } else value = ""
    out = out line(text "[" spec($13) "]" value)
  }
  return out
}
function positional() {
  if ($14 == "program") return line("(-)1:program: _command_names -e") line("*::arguments: _normal")
  return line(($6 ? "*" : "1") ":" spec($4) ":" action())
}
function action(words) {
  words = $7
  gsub(/\|/, " ", words)
  if (words != "") return $6 ? "_values -s , word " words : "(" words ")"
  if ($14 == "file") return "_files"
  if ($14 == "directory") return "_files -/"
  if ($14 == "program") return "_command_names -e"
  if ($14 == "host") return "_sequence _hosts"
  return $14 == "key" ? "_causeway_settings" : " "
}
function spec(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/\[|\]|:/, "\\\\&", text)
  return text
}
function line(text) { return "        " quoted(text) " \\\n" }
function quoted(text) { gsub(/'/, "'\\''", text); return "'" text "'" }
