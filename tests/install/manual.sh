#!/bin/sh
# The manual pages of the installed tree against the command and the table of keys beside them.
# Usage: manual.sh TREE WORK_DIR SOURCE_DIR VERSION LOWDOWN
# Would catch: a page that man sets with a warning, or that whatis does not find; a command, an option or a key
# without its place in a page; an example that uses an option which is none; pages that come out differently in
# another folder, locale or time zone.
set -eu
tree=$1 work=$2 source=$3 version=$4 lowdown=$5
man=$tree/share/man
rm -rf "$work"
mkdir -p "$work"
: >"$work/complaints"
complain() { echo "manual: $*" >>"$work/complaints"; }
causeway() { LC_ALL=C COLUMNS=10000 "$tree/bin/causeway" "$@"; }

# Options at the beginning of the lines of a help text, one a line.
options_of() {
  causeway "$@" --help | sed -n 's/^  *\(-[^ ]*\).*/\1/p' | tr , '\n' | grep -E '^--?[a-z]'
}
commands=$(causeway --help | sed -n '/^Subcommands:/I,$s/^  \([a-z][a-z-]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 9 ] || complain "the help names only: $commands"

for command in '' $commands; do
  page=$man/man1/causeway${command:+-$command}.1
  [ -s "$page" ] || { complain "${page#"$tree"/} is not installed"; continue; }
  sed 's/\\-/-/g' "$page" >"$work/page"
  # shellcheck disable=SC2086 # no word where there is no command
  options_of $command >"$work/options"
  [ -s "$work/options" ] || complain "no options in the help of '$command'"
  for columns in 60 100; do
    # shellcheck disable=SC2086 # no word where there is no command
    LC_ALL=C COLUMNS=$columns "$tree/bin/causeway" $command --help >"$work/folded"
    ! grep -q ".\{$((columns + 1))\}" "$work/folded" || complain "the help of '$command' is wider than $columns columns"
    # What is folded has the same words in the same order. (Names of programs may be folded too.)
    # shellcheck disable=SC2086
    [ "$(tr -d ' \n' <"$work/folded")" = "$(causeway $command --help | tr -d ' \n')" ] ||
      complain "the help of '$command' says something else in $columns columns"
  done
  while read -r option; do
    grep -qF -- "\\fB$option\\fR" "$work/page" || complain "$option of '$command' is not in ${page##*/}"
  done <"$work/options"
  # Of examples, "$ causeway COMMAND ...": what begins with a dash.
  sed -n 's/^\$ causeway //p' "$work/page" | while read -r name words; do
    options_of "$name" >"$work/options" || complain "an example in ${page##*/} has the command '$name'"
    # Behind a program stand the program's own.
    for word in $(echo "$words" | sed 's|\./[a-z].*||'); do
      case $word in
        -*) grep -qxF -- "${word%%=*}" "$work/options" || complain "an example in ${page##*/} has $word" ;;
      esac
    done
  done
  [ -z "$command" ] || sed 's/\\-/-/g' "$man/man1/causeway.1" | grep -qF "causeway-$command (1)" ||
    complain "causeway(1) leaves out $command"
done

if [ -n "$lowdown" ]; then
  for kind in conduit memkind collective; do
    [ "$(wc -l <"$man/man7/causeway-$kind.7")" -gt 100 ] || complain "causeway-$kind(7) is nearly empty"
  done
  page=$man/man5/causeway.yaml.5
  sed -n 's/^| `\([a-z][^`]*\)` .*|.*|.*|.*/\1/p' "$tree/share/causeway/configs/README.md" >"$work/keys"
  [ "$(wc -l <"$work/keys")" -gt 80 ] || complain "the README has only $(wc -l <"$work/keys") keys"
  while read -r key; do
    case $key in native:*) continue ;; esac
    grep -qF -- "\\fB$key\\fR:" "$page" || complain "$key is not in causeway.yaml(5)"
  done <"$work/keys"
else
  echo "manual: pages of sections 5 and 7 are left out: lowdown is missing"
fi

if command -v man >/dev/null && man --version >/dev/null 2>&1; then
  # Some systems leave a man that says only that pages are not installed.
  find "$man" -name 'causeway*.[1-8]' | sort >"$work/pages"
  while read -r page; do
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
      >"$work/set" 2>"$work/warnings" || complain "man fails on ${page##*/}"
    [ ! -s "$work/warnings" ] || complain "man warns of ${page##*/}: $(head -n 1 "$work/warnings")"
    [ -s "$work/set" ] || complain "man sets nothing of ${page##*/}"
    name=${page##*/}
    ! command -v lexgrog >/dev/null || lexgrog "$page" 2>/dev/null | grep -q "\"${name%.*} - [a-z]" ||
      complain "whatis would not find $name"
  done <"$work/pages"
else
  echo "manual: no page is set: man is missing (Debian: man-db)"
fi

# Other versions of the parser lay a help text out in other ways: defaults in brackets, names in columns.
{
  printf '@ tune\nMeasure.\nUsage: causeway tune [OPTIONS]\n\nOptions:\n'
  printf '  -n,--ranks UINT:UINT in [2 - 4096]=4\n                                  Ranks\n  --scale [RANKS,...]=2,4         Sizes: all\n'
} >"$work/usual"
{
  printf '@ tune\nMeasure.\n\n\nUsage: causeway tune [OPTIONS]\n\n\nOPTIONS:\n'
  printf '  -n,     --ranks UINT:UINT in [2 - 4096] [4] \n                              Ranks\n          --scale [RANKS,...] [2,4]   Sizes:\n'
  printf '                              all\n'
} >"$work/unusual"
for form in usual unusual; do
  awk -f "$source/tools/manual/options.awk" "$work/$form" | sed 's/OPTIONS/Options/' >"$work/$form.table"
done
grep -q "^tune.option.-n,--ranks.N....2.4096.4..Options.Ranks" "$work/usual.table" || complain "the table of a help text has: $(cat "$work/usual.table")"
cmp -s "$work/usual.table" "$work/unusual.table" || complain "another layout of the help gives: $(diff "$work/usual.table" "$work/unusual.table")"

# The same input gives the same files, wherever and whenever.
mkdir "$work/elsewhere"
(cd "$work/elsewhere" && LC_ALL=C.UTF-8 TZ=Pacific/Auckland COLUMNS=40 sh "$source/tools/manual/make.sh" "$work/again" \
  "$version" "$tree/share/causeway/configs/README.md" "$tree/bin/causeway")
for file in man1/causeway.1=man/man1/causeway.1 man1/causeway-run.1=man/man1/causeway-run.1 \
  bash/causeway=bash-completion/completions/causeway zsh/_causeway=zsh/site-functions/_causeway \
  fish/causeway.fish=fish/vendor_completions.d/causeway.fish; do
  cmp -s "$work/again/${file%=*}" "$tree/share/${file#*=}" || complain "${file%=*} comes out differently"
done

cat "$work/complaints"
[ ! -s "$work/complaints" ]
