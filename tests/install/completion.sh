#!/bin/sh
# The installed completions, asked in their shells for what a user would type.
# Usage: completion.sh SHELL TREE WORK_DIR
# Would catch: a completion that its shell does not accept; a command or an option of the help that is not offered
# where it may stand; one that is offered elsewhere; values (of a list too), settings and the
# program's name that are not completed.
set -eu
shell=$1 tree=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
command -v "$shell" >/dev/null || { echo "SKIPPED: $shell is not installed"; exit 77; }
rm -rf "$work"
mkdir -p "$work/at"
export LC_ALL=C TREE="$tree" WORK="$work"
export PATH="$tree/bin:$PATH" HOME="$work" XDG_CONFIG_HOME="$work" XDG_DATA_HOME="$work"
case $shell in
  bash) bash -n "$tree/share/bash-completion/completions/causeway" ;;
  zsh) zsh -n "$tree/share/zsh/site-functions/_causeway" ;;
  fish) fish --no-execute "$tree/share/fish/vendor_completions.d/causeway.fish" ;;
esac

# Lines "WORDS => WHAT": behind the words, the last of which is not complete, all of these are offered, or with
# "=>!" none of them. What is a list of words.
help() { COLUMNS=10000 causeway "$@" --help; }
commands=$(help | sed -n '/^Subcommands:/I,$s/^  \([a-z][a-z-]*\) .*/\1/p')
{
  echo "causeway  => $(echo $commands)"
  echo "causeway  => help run"
  echo "causeway  =>! relay"
  echo "causeway --v => --version"
  for command in $commands; do
    # shellcheck disable=SC2046 # words
    echo "causeway $command -- => $(echo $(help "$command" | sed -n 's/^  *\(-[^ ]*\).*/\1/p' | tr , '\n' | grep '^--[a-z]'))"
  done
  echo "causeway info -- =>! --ranks --spares"
  echo "causeway run --on-failure a => abort"
  echo "causeway run --on-failure a =>! continue"
  echo "causeway run -n 4 --set direct => direct_map"
  echo "causeway run --set direct_map=n => never"
  echo "causeway run -n 4 basenam => basename"
  echo "causeway run -n 4 cat one => one.yaml"
  echo "causeway run -n 4 -- cat -- =>! --ranks"
  echo "causeway run -n 4 cat -- =>! --ranks"
  [ "$shell" != fish ] || echo "causeway run -n 4 cat : -- => --ranks"
  echo "causeway help che => check-config check-plugin"
  echo "causeway help o =>! one.yaml"
  echo "causeway check-config one => one.yaml"
  echo "causeway tune --operations broad => broadcast"
  echo "causeway run --map host,c => core"
  echo "causeway run --map host,c =>! numa"
  echo "causeway bench --only put8.same,get8. => get8.same"
  echo "causeway bench --sweep=p => put"
  echo "causeway run --bind core,n =>! none"
  echo "causeway run --debug=d => death"
} >"$work/cases"
: >"$work/at/one.yaml"

# Prints for every case "WORDS", a tab, and what was offered.
cd "$work/at"
sed 's/ =>.*//' "$work/cases" | sort -u >"$work/questions"
timeout 100 "$shell" "$here/completion.$shell" <"$work/questions" >"$work/answers"

failed=0
while read -r line; do
  words=${line%% =>*} what=${line#*=>}
  answer=$(awk -F '\t' -v words="$words" '$1 == words { print $2; exit }' "$work/answers")
  case $what in
    !*) for word in ${what#!}; do
      case " $answer " in *[\ =,]"$word"[\ =]*) echo "completion: '$words' offers $word"; failed=1 ;; esac
    done ;;
    *) for word in $what; do
      case " $answer " in *[\ =,]"$word"[\ =]*) ;; *) echo "completion: '$words' offers not $word but: $answer"; failed=1 ;; esac
    done ;;
  esac
done <"$work/cases"
exit $failed
