# Fails where two files define a type of the same name in the same namespace: programs that link both take one's functions
# for the other's. Types of unnamed namespaces are a file's own. Reads files that tools/format has laid out.
FNR == 1 { depth = 0; unnamed = 0 }
/^namespace / {
  name = $2 == "{" ? "" : $2
  stack[++depth] = name
  unnamed += name == ""
}
/^}.*\/\/ namespace/ && depth > 0 { unnamed -= stack[depth--] == "" }
/^(struct|class) [A-Za-z_]+/ && !/;$/ && !unnamed {
  name = $2
  if (name ~ /[^A-Za-z0-9_]/) next  # a specialisation
  if (depth == 0 && name ~ /^cwy[cmx]_/) next  # handles, which each plugin defines as it likes
  for (i = depth; i > 0; --i) name = stack[i] "::" name
  if (name in file && file[name] != FILENAME) {
    printf "%s:%d: %s is another type in %s: rename one of them\n", FILENAME, FNR, name, file[name]
    bad = 1
  }
  file[name] = FILENAME
}
END { exit bad }
