# The keys of the tables in configs/README.md that can be given as path=value, each with its words.
# Output: path, tab, words separated by |.
/^\| `[a-z]/ {
  split($0, cells, " [|] ?")
  path = cells[1]
  gsub(/[|` ]/, "", path)
  if (path !~ /^[a-z_.]+$/ || cells[2] ~ /^(map|named-map)/) next
  words = ""
  if (cells[2] == "bool") words = "|true|false"
  else if (cells[2] !~ /^list/)
    while (match(cells[2], /`[^`]*`/)) {
      words = words "|" substr(cells[2], RSTART + 1, RLENGTH - 2)
      cells[2] = substr(cells[2], RSTART + RLENGTH)
    }
  print path "\t" substr(words, 2)
}
