# Fills template.bash. Input: the table of options.awk, the list of keys.awk, the template. A line of the
# template that is @NAME@ becomes a list.
BEGIN { FS = "\t" }
FNR == 1 { ++file }
file == 1 && $2 == "command" { commands = commands " " $3 }
file == 1 && $2 == "positional" { fills["POSITIONALS"] = fills["POSITIONALS"] "    \"" $1 "\") " how() " ;;\n" }
file == 1 && $2 == "option" {
  if (!($1 in options)) names[++count] = $1
  n = split($3, parts, ",")
  for (i = 1; i <= n; ++i) {
    options[$1] = options[$1] " " parts[i]
    if ($4 == "") continue
    if ($5) may[$1] = may[$1] " " parts[i]
    else must[$1] = must[$1] " " parts[i]
    if ($7 $14 != "") fills["VALUES"] = fills["VALUES"] "    \"" $1 " " parts[i] "\") " how() " ;;\n"
  }
}
file == 2 {
  keys = keys " " $1 "="
  gsub(/\|/, " ", $2)
  if ($2 != "") fills["WORDS_OF_KEYS"] = fills["WORDS_OF_KEYS"] "    " $1 ") reply=(" $2 ") ;;\n"
}
file == 3 && FNR == 1 {
  for (i = 1; i <= count; ++i)
    fills["OPTIONS"] = fills["OPTIONS"] sprintf("    \"%s\") options='%s' must='%s ' may='%s ' ;;\n", names[i],
      substr(options[names[i]], 2), must[names[i]], may[names[i]])
  fills["KEYS"] = "  local keys='" substr(keys, 2) "'\n"
  fills["COMMANDS"] = "  local commands='" substr(commands, 2) "'\n"
}
file == 3 && /^@[A-Z_]+@$/ { printf "%s", fills[substr($0, 2, length($0) - 2)]; next }
file == 3

function how(words) {
  words = $7
  gsub(/\|/, " ", words)
  return words == "" ? "paths=" $14 : ($6 != "" ? "many=1 " : "") "reply=(" words ")"
}
