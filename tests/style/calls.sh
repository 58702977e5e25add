#!/bin/sh
# No object of the core needs a symbol of a room that stands above its own: what includes do not show, a
# function that is declared low and defined high.
# Usage: calls.sh SOURCE_DIR OBJECTS_DIR
set -eu
cd "$2"
# Objects of sources that are gone stay in a build folder; those of several sources have a folder named as the room.
find . -name '*.o' | sed 's|^\./||' | sort | while read -r object; do
  if [ -e "$1/core/${object%.o}" ] || [ -e "../../${object%.o}" ]; then echo "$object"; fi
done | xargs nm -A --extern-only |
  awk -v order="$1/tests/style/rooms.order" '
    # The room of an object: the innermost one of the order.
    function place_of(file, n, parts, name, i, found) {
      sub(/^united\/causeway_core\/core\//, "", file)
      n = split("core/" file, parts, "/")
      sub(/\.o$/, "", parts[n])
      for (i = 1; i <= n; ++i) {
        name = i == 1 ? parts[1] : name "/" parts[i]
        if (name in place) found = place[name]
      }
      return found
    }
    BEGIN {
      while ((getline line < order) > 0) {
        if (line ~ /^#/ || line ~ /\*/) continue
        sub(/[[:space:]]only[[:space:]].*/, "", line)
        n = split(line, names, " ")
        for (i = 1; i <= n; ++i) place[names[i]] = ++places
      }
    }
    {
      colon = index($0, ":")
      file = substr($0, 1, colon - 1)
      n = split(substr($0, colon + 1), fields, " ")
      symbol = fields[n]
      kind = fields[n - 1]
      if (kind ~ /^[TDBRG]$/) home[symbol] = file
      if (kind == "U") needs[file " " symbol] = 1
    }
    END {
      for (need in needs) {
        split(need, pair, " ")
        if (!(pair[2] in home)) continue
        from = place_of(pair[1]); to = place_of(home[pair[2]])
        if (from == "" || to == "" || to <= from) continue
        print "calls: " pair[1] " needs " pair[2] " of " home[pair[2]] ", which stands above it"
        failed = 1
      }
      exit failed
    }'
