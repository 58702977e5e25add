# Reads rooms.order, the list of files, and the includes that arrows.sh found.

# "plugins/*/common" as a regular expression for the whole name of a room.
function pattern(glob) {
  gsub(/\*/, "[^/]+", glob)
  return "^" glob "$"
}

function complain(text) {
  print "arrows: " text
  failed = 1
}

# The innermost folder of the order that holds the file, or "".
function room_of(path, n, parts, name, i) {
  if (path in known_room) return known_room[path]
  n = split(path, parts, "/")
  for (i = 1; i <= n; ++i) {
    name = i == 1 ? parts[1] : name "/" parts[i]
    if (name in place || (i < n && matching_glob(name) != "")) known_room[path] = name
  }
  return known_room[path]
}

# The entry with a star that the name fits, or "".
function matching_glob(name, glob) {
  for (glob in only) {
    if (name ~ pattern(glob)) return glob
  }
  return ""
}

# "a/b/../c.h" is "a/c.h".
function plain(path) {
  while (match(path, /[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
  return path
}

# The file of the repository that the include names, or "" for one of the system or a generated one.
function target_of(file, name, quoted, folder, i) {
  folder = file
  sub(/[^\/]*$/, "", folder)
  if (quoted && (plain(folder name) in is_file)) return plain(folder name)
  for (i = 1; i <= roots; ++i) {
    if (plain(root[i] name) in is_file) return plain(root[i] name)
  }
  return ""
}

function goes_up(from, to, glob, names, n, i) {
  if (from == to) return 0
  glob = matching_glob(from)
  if (glob == "") return !(to in place) || place[to] > place[from]
  n = split(only[glob], names, " ")
  for (i = 1; i <= n; ++i) {
    if (to ~ pattern(names[i])) return 0
  }
  return 1
}

BEGIN {
  roots = split("core/ core/include/ core/collective-api/ conduit-api/ memkind-api/", root, " ")
}

FNR == 1 { ++input }

input == 1 && !/^#/ {
  if ($2 == "only") {
    rest = $0
    sub(/^.*[[:space:]]only[[:space:]]+/, "", rest)
    only[$1] = rest
    if ($1 !~ /\*/) place[$1] = ++places
  } else {
    for (i = 1; i <= NF; ++i) place[$i] = ++places
  }
}

input == 2 { is_file[$0] = 1 }

FILENAME == "-" {
  colon = index($0, ":")
  file = substr($0, 1, colon - 1)
  quoted = $0 ~ /"/
  name = $0
  sub(/^[^"<]*["<]/, "", name)
  sub(/[">].*$/, "", name)
  target = target_of(file, name, quoted)
  if (target == "") next
  from = room_of(file)
  to = room_of(target)
  if (from == "" && !((file) in told)) {
    complain(file " stands in no room of tests/style/rooms.order: name its room there")
    told[file] = 1
  }
  if (from == "" || !goes_up(from, to)) next
  complain(file " -> " target " goes up: " to " does not stand before " from " in tests/style/rooms.order")
}

END { exit failed }
