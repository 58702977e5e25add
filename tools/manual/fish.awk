# The completion for fish. Input: the table of options.awk, the list of keys.awk.
BEGIN { FS = "\t" }
FNR == 1 { ++file }
file == 2 { add_key(); next }
$2 == "command" { print_once(); commands[++command_count] = $3; print "complete -c causeway -f -n __causeway_alone -a " quoted($3) " -d " quoted(capital($13)); next }
$2 == "about" && $1 != "" { takes_files[$1] = 0 }
$2 == "option" {
  if ($1 == "run") note_valued()
  lines[++count] = condition($1) names($3) value() " -d " quoted(capital($13))
}
$2 == "positional" {
  takes_files[$1] = $7 == ""
  lines[++count] = within($1) ($7 != "" ? value() : $14 == "program" ? " -x -a '(__fish_complete_subcommand --fcs-skip=2" "@VALUED@" ")'" : " -F")
}
END {
  for (i = 1; i <= count; ++i) { sub(/@VALUED@/, valued, lines[i]); print lines[i] }
  for (i = 1; i <= command_count; ++i)
    if (!takes_files[commands[i]]) print condition(commands[i]) " -f"
  print "\n# May an option of run stand here: is there no program yet, since the last \":\"?"
  print "function __causeway_before_program"
  print "    __causeway_in run; or return"
  print "    set -l words (commandline -opc)[3..]"
  print "    set -l program 1"
  print "    while set -q words[1]"
  print "        switch $words[1]"
  print "            case ':'\n                set program 1"
  print "            case '-*'"
  print "                test $program = 1; and contains -- $words[1]" valued "; and set -e words[1]"
  print "            case '*'\n                set program 0"
  print "        end"
  print "        set -e words[1]"
  print "    end"
  print "    test $program = 1\nend"
  print "\nfunction __causeway_settings"
  print "    set -l path (string match -r '^(?:--set=)?([a-z_.]+)=' -- (commandline -ct))[2]"
  print "    switch \"$path\""
  printf "%s", words
  print "        case ''\n            printf '%s=\\n'" keys
  print "    end\nend"
}

function print_once() {
  if (begun++) return
  print "# Completion of causeway for fish, made from what its help says.\n"
  print "# Is there no command yet, or is it this one?"
  print "function __causeway_alone\n    test (count (commandline -opc)) -eq 1\nend"
  print "function __causeway_in\n    set -l words (commandline -opc)\n    test (count $words) -gt 1; and test \"$words[2]\" = $argv[1]\nend\n"
}
function within(name) { return "complete -c causeway -n " quoted("__causeway_in " name) }
function condition(name) {
  if (name != "" && name != "run") return within(name)
  return "complete -c causeway -n " (name == "" ? "__causeway_alone" : "__causeway_before_program")
}
function names(list, n, parts, i, out) {
  n = split(list, parts, ",")
  for (i = 1; i <= n; ++i)
    out = out (parts[i] ~ /^--/ ? " -l " substr(parts[i], 3) : " -s " substr(parts[i], 2))
  return out
}
function value(words) {
  words = $7
  gsub(/\|/, " ", words)
  if ($4 == "") return " -f"
  if ($5) return words != "" ? " -a " quoted(words) : ""
  if (words != "" && $6) return " -x -a " quoted("(__fish_complete_list , 'printf %s\\n " words "')")
  if (words != "") return " -x -a " quoted(words)
  if ($14 == "file") return " -r -F"
  if ($14 == "directory") return " -x -a '(__fish_complete_directories)'"
  if ($14 == "program") return " -x -a '(__fish_complete_command)'"
  if ($14 == "host") return " -x -a '(__fish_print_hostnames)'"
  return $14 == "key" ? " -x -a '(__causeway_settings)'" : " -x"
}
# Options whose value is not the program of run.
function note_valued(n, parts, i) {
  if ($4 == "" || $5) return
  n = split($3, parts, ",")
  for (i = 1; i <= n; ++i) valued = valued " " parts[i]
}
function add_key() {
  keys = keys " " $1
  if ($2 == "") return
  words = words "        case " $1 "\n            printf '%s\\n' " $1 "="
  gsub(/\|/, " " $1 "=", $2)
  words = words $2 "\n"
}
function capital(text) { return text ~ /^[a-z]+[ :;,]/ ? toupper(substr(text, 1, 1)) substr(text, 2) : text }
function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/'/, "\\'", text); return "'" text "'" }
