# causeway(1), or causeway-COMMAND(1), from the table that options.awk makes.
# Variables: command (empty for causeway itself), version; more: a file of further sections, sections.roff.
BEGIN {
  FS = "\t"
  page = command == "" ? "causeway" : "causeway-" command
}
$2 == "command" { about_of[$3] = $13; commands[++command_count] = $3 }
$1 != command { next }
$2 == "about" { about = $13 }
$2 == "foot" { add_foot($13) }
$2 == "positional" { synopsis = synopsis " " ($15 ? $4 : "[" $4 "]"); add_entry() }
$2 == "option" { add_entry() }
END {
  printf ".TH %s 1 \"\" \"Causeway %s\" \"User Commands\"\n.nh\n", roff(toupper(page)), version
  print ".SH NAME"
  sub(/^Causeway: /, "", about)
  print roff(page) " \\- " roff(uncapital(about))
  print ".SH SYNOPSIS"
  if (command == "") {
    print ".B causeway\n.I COMMAND\n.RI [ OPTION ]...\n.br\n.B causeway\n.RB [ \\-\\-help | \\-\\-version ]"
  } else {
    print ".B causeway " roff(command) "\n.RI [ OPTION ]..." (synopsis == "" ? "" : "\n\\fI" roff(substr(synopsis, 2)) "\\fR")
  }
  print ".SH DESCRIPTION"
  print sentence(about)
  if (foot != "") print ".PP\n" sentence(foot)
  more_of("DESCRIPTION")
  if (command == "") print_commands()
  print ".SH OPTIONS"
  printf "%s", entries
  print ".SH EXIT STATUS"
  print sentence(status != "" ? status : "0 success, 1 what was asked for failed, 2 the command line could not be understood")
  more_of("")
  print ".SH SEE ALSO"
  see_also()
}

# An option or argument of the table as a paragraph with a tag; a new heading first.
function add_entry(tag, text, value) {
  if ($12 != "Options" && $12 != "OPTIONS" && $12 != "Positionals" && $12 != "POSITIONALS" && $12 != heading)
    entries = entries ".SS " roff($12) "\n"
  heading = $12
  if ($2 == "positional") {
    tag = "\\fI" roff($4) "\\fR"
  } else {
    tag = $3
    gsub(/,/, ", ", tag)
    tag = "\\fB" roff(tag) "\\fR"
    gsub(/, /, "\\fR, \\fB", tag)
    # Of words one is typed as it stands; of other values, something in their place.
    value = roff($4)
    if ($7 != "") { gsub(/\|/, "\\fR|\\fB", value); value = "\\fB" value "\\fR" }
    else if (value != "") value = "\\fI" value "\\fR"
    if (value != "") tag = tag ($5 ? " [" value "]" : " " value)
  }
  text = sentence($13)
  if ($8 != "") text = text " From " roff($8) " to " roff($9) "."
  if ($10 != "" && $10 != "-") text = text ($5 ? " Without a value: " : " Default: ") "\\fB" roff($10) "\\fR."
  if ($6 && $2 == "option" && text !~ /repeat/) text = text ($4 == "PATH=VALUE" ? " May be repeated." : " Several are separated by commas.")
  if ($11 ~ /^needs /) text = text " Needs \\fB" roff(substr($11, 7)) "\\fR."
  if ($11 ~ /^not with /) text = text " Not with \\fB" roff(substr($11, 10)) "\\fR."
  entries = entries ".TP\n" tag "\n" text "\n"
}

# The lines behind the options: what the status means, and what else there is to say.
function add_foot(line) {
  if (sub(/^(Exit status|Status): /, "", line)) in_status = 1
  if (in_status) status = status (status == "" ? "" : " ") line
  else foot = foot (foot == "" ? "" : " ") line
}

function print_commands(i) {
  print ".SH COMMANDS"
  for (i = 1; i <= command_count; ++i)
    print ".TP\n\\fBcauseway " roff(commands[i]) "\\fR\n" sentence(about_of[commands[i]]) "\nSee\n.BR causeway\\-" roff(commands[i]) " (1)."
}

# The part of sections.roff for this page: the text that continues `section`, or else whole sections.
function more_of(section, line, here, wanted) {
  while ((getline line < more) > 0) {
    if (line ~ /^\.\\" PAGE /) {
      here = substr(line, 10)
      wanted = here == page (section == "" ? "" : " " section)
      continue
    }
    if (wanted) print line
  }
  close(more)
}

function see_also(i) {
  if (command != "") print ".BR causeway (1),"
  else for (i = 1; i <= command_count; ++i) print ".BR causeway\\-" roff(commands[i]) " (1),"
  print ".BR causeway.yaml (5),\n.BR causeway\\-guide (7),\n.BR causeway\\-hosts (7),\n.BR causeway\\-conduit (7),\n.BR causeway\\-memkind (7),\n.BR causeway\\-collective (7)"
}

function uncapital(text) { return text ~ /^[A-Z][a-z]/ ? tolower(substr(text, 1, 1)) substr(text, 2) : text }
# A capital at the beginning and a stop at the end; options and `commands` are bold.
function sentence(text, out, word) {
  if (text ~ /^[a-z]+[ :;,]/ && text !~ /^[a-z]+=/) text = toupper(substr(text, 1, 1)) substr(text, 2)
  if (text !~ /[.?!]$/) text = text "."
  text = roff(text)
  out = ""
  while (match(text, /`[^`]*`|(^|[ (])\\-(\\-[a-z]+)+|(^|[ (])\\-[a-z]/)) {
    word = substr(text, RSTART, RLENGTH)
    out = out substr(text, 1, RSTART - 1)
    text = substr(text, RSTART + RLENGTH)
    if (word ~ /^`/) out = out "\\fB" substr(word, 2, length(word) - 2) "\\fR"
    else if (word ~ /^[ (]/) out = out substr(word, 1, 1) "\\fB" substr(word, 2) "\\fR"
    else out = out "\\fB" word "\\fR"
  }
  return out text
}
function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/'/, "\\(aq", text)
  if (text ~ /^[.]/) text = "\\\\&" text
  return text
}
