# An interactive zsh behind a terminal of its own, since only the line editor completes. What is offered is
# what reaches compadd.
zmodload zsh/zpty
export ZDOTDIR=$WORK TERM=dumb
cat >$WORK/.zshrc <<'END'
unsetopt beep list_beep
PS1=
fpath=($TREE/share/zsh/site-functions $fpath)
autoload -Uz compinit
compinit -u -D
offered=()
compadd() {
  local -a hits
  [[ -n ${argv[(r)-[AOD]]} ]] || { builtin compadd -O hits "$@"; offered+=($hits) }
  builtin compadd "$@"
}
show() { print -r -- "<<<$offered>>>"; offered=() BUFFER= }
zle -N show
bindkey '^X' show
bindkey '^I' list-choices
print READY
END
zpty shell zsh -d -i
zpty -r shell said '*READY*' || exit 1
while IFS= read -r line; do
  zpty -w -n shell "$line"$'\t\x18'
  zpty -r shell said '*<<<*>>>*' || exit 1
  said=${${said##*<<<}%%>>>*}
  print -r -- "$line"$'\t'"${said//[$'\r\n']/}"
done
zpty -d shell
