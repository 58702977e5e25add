# Prepares a Markdown text for a manual page: the title becomes the section NAME, headings go up by one,
# links that lead to files keep their words only, tables of configuration keys become lists of terms, and
# what concerns the sources alone is left out.
# Variable: name, the page's.
/^```/ { fenced = !fenced; print; next }
fenced { print; next }
/^# / && !titled {
  titled = 1
  text = substr($0, 3)
  sub(/^[a-z]+: /, "", text)
  print "# NAME\n\n" name " - " tolower(substr(text, 1, 1)) substr(text, 2) "\n\n# DESCRIPTION"
  next
}
/^## / { print "# " toupper(words_of(substr($0, 4))); next }
/^###+ / { print "## " words_of(substr($0, index($0, " ") + 1)); next }
# Rules for those who write the sources.
/^What (may )?enters?: / { skipped = 1 }
/^$/ { skipped = 0 }
skipped { next }
/^\| key \| type \| default \| meaning \|/ { keys = 1; getline; next }
keys && /^\|/ {
  split($0, cells, " [|] ?")
  line = substr(cells[1], 3) ": " cells[2]
  if (cells[3] ~ /[^ ]/) line = line ", default " cells[3]
  sub(/[ |]*$/, "", cells[4])
  print line "\n: " words_of(cells[4]) ".\n"
  next
}
{ keys = 0; print words_of($0) }

# The text without links but those into the web.
function words_of(text, at, out) {
  while (match(text, /\[[^]]*\]\([^)]*\)/)) {
    at = substr(text, RSTART, RLENGTH)
    out = out substr(text, 1, RSTART - 1)
    text = substr(text, RSTART + RLENGTH)
    if (at !~ /\]\(https?:/) at = substr(at, 2, index(at, "](") - 2)
    out = out at
  }
  return out text
}
