# Completion of causeway for bash, made from what its help says. bash-completion loads it from its
# folder; without that, source this file.

# Sets the options of command $1: all, those that need a value, those that may have one.
_causeway_options() {
  case $1 in
@OPTIONS@
  esac
}

# Sets what the value of option $2 of command $1 may be: words in reply, and many where it is a list
# of them, or paths to the kind of thing.
_causeway_values() {
  case "$1 $2" in
@VALUES@
  esac
}

# Sets what an argument of command $1 is.
_causeway_arguments() {
  case $1 in
@POSITIONALS@
  esac
}

# Sets reply to settings that go on from $1: paths, or behind one its words.
_causeway_settings() {
@KEYS@
  reply=()
  case ${1%%=*} in
@WORDS_OF_KEYS@
  esac
  case $1 in
    *=*) reply=("${reply[@]/#/${1%%=*}=}") ;;
    *) read -ra reply <<<"$keys" ;;
  esac
}

# Names of the kind that paths says, which begin with $1.
_causeway_paths() {
  case $paths in
    file) compgen -f -- "$1" ;;
    directory) compgen -d -- "$1" ;;
    host) compgen -A hostname -- "$1" ;;
    program) compgen -c -- "$1"; compgen -f -- "$1" ;;
  esac
}

_causeway() {
  local word words=() reply=() options='' must=' ' may=' ' command='' option='' kept='' list='' many='' paths='' arguments=-1 i
@COMMANDS@
  COMPREPLY=()
  # bash takes words apart at = where COMP_WORDBREAKS has it.
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((${#words[@]})) && [[ $word == = || ${COMP_WORDS[i - 1]} == = ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  local last=$((${#words[@]} - 1))
  local cur=${words[last]}
  ((last < 1)) || command=${words[0]}
  _causeway_options "$command"

  # An option before may wait for its value; the first argument of run ends the options.
  for ((i = 1; i < last; ++i)); do
    word=${words[i]}
    if [[ -n $option && ($must == *" $option "* || ($command != run && $word != -*)) ]]; then
      option=
    elif [[ $word == -- ]]; then
      option='' arguments=$((i + 1))
      break
    elif [[ $word != -* ]]; then
      option='' arguments=$i
      [[ $command != run ]] || break
    else
      option=
      [[ $must$may != *" $word "* ]] || option=$word
    fi
  done
  if [[ -z $option && $arguments -lt 0 && $cur == --*=* ]]; then
    option=${cur%%=*} kept=$option=
    cur=${cur#*=}
  fi

  if [[ -n $option && (-n $kept || $must == *" $option "* || ($command != run && $cur != -*)) ]]; then
    _causeway_values "$command" "$option"
    if [[ $paths == key ]]; then
      _causeway_settings "$cur"
      [[ $cur == *=* ]] || compopt -o nospace 2>/dev/null
    fi
  elif [[ -z $command ]]; then
    reply=($options $commands)
  elif [[ $arguments -lt 0 || $command != run ]] && [[ $cur == -* ]]; then
    reply=($options)
  else
    _causeway_arguments "$command"
    # Behind a program stand its own arguments.
    [[ $command != run || $arguments -lt 0 || $arguments -eq $last ]] || paths=file
  fi
  case $paths in
    '' | key) ;;
    *)
      mapfile -t COMPREPLY < <(_causeway_paths "$cur" | sort -u)
      compopt -o filenames 2>/dev/null
      return
      ;;
  esac
  # Behind a comma goes the next word of a list.
  [[ -z $many || $cur != *,* ]] || list=${cur%,*}, cur=${cur##*,}
  for word in "${reply[@]}"; do
    [[ $word == "$cur"* ]] || continue
    word=$list$word
    # What stands before the last = is another word of bash's.
    if [[ $COMP_WORDBREAKS != *=* ]]; then
      word=$kept$word
    elif [[ $cur == *=* ]]; then
      word=${word#"${cur%=*}="}
    fi
    COMPREPLY+=("$word")
  done
}
complete -F _causeway causeway
