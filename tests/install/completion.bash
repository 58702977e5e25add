# Asks the completion as readline does: words taken apart at COMP_WORDBREAKS, where = is one.
. "$TREE/share/bash-completion/completions/causeway"
[[ $(complete -p causeway) == *'-F _causeway causeway' ]] || { echo "nothing is registered" >&2; exit 1; }
while IFS= read -r line; do
  spaced=${line//=/ = }
  read -ra COMP_WORDS <<<"$spaced"
  [[ $line != *' ' && $line != *= ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
  _causeway causeway "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  printf '%s\t%s\n' "$line" "${COMPREPLY[*]}"
done
