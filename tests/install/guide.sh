#!/bin/bash
# Does what the guide says, in its order, with an installed tree: blocks with a file's name become files, blocks of
# commands run as they stand. What needs more than this machine has a stand-in.
# Usage: guide.sh GUIDE TREE WORK_DIR PART SOURCE_DIR BUILD_DIR
#   PART      here      the blocks ```sh
#             hosts     the blocks ```sh hosts: node01 and node02 are network namespaces, ssh enters them
#             slurm     the blocks ```sh slurm, in a Slurm of the test's own
#             packaging the blocks ```sh sources and ```sh build, in a folder that stands for a clone
# Would catch: a command of the guide that fails, does not do what is said of it, or that nothing runs.
guide=$1 tree=$2 folder=$3 part=$4 source=$5 build=$6
here=$(cd "$(dirname "$0")" && pwd)
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS
export P="$tree" PATH="$tree/bin:$PATH" PKG_CONFIG_PATH="$tree/lib/pkgconfig"

wrong() {
  echo "guide: $*"
  exit 1
}

rm -rf "$folder"
mkdir -p "$folder/at"
awk -v at="$folder/at/" -v commands="$folder/commands." '
  /^```/ && target != "" { close(target); target = ""; next }
  /^```/ {
    n = split(substr($0, 4), words, " ")
    if (words[1] != "sh" && n == 2) target = at words[2]
    else if (words[1] == "sh" && n == 1) target = commands "here"
    else if (words[1] == "sh" && words[2] ~ /^(hosts|slurm)$/) target = commands words[2]
    else if (words[1] == "sh" && words[2] ~ /^(sources|build)$/) target = commands "packaging"
    else { print "guide: nothing runs a block " $0; exit 1 }
    next
  }
  target != "" { print >>target }
' "$guide" || exit 1
cd "$folder/at" || exit 1
# Every part needs the program of the first section.
sh -euc "$(grep '^cc hello.c' "$folder/commands.here")" || wrong "hello.c does not compile"

# follow COMMAND...: the commands of this part, by a shell that COMMAND starts.
follow() {
  "$@" sh -eux "$folder/commands.$part" >"$folder/log" 2>&1 </dev/null || {
    status=$?
    cat "$folder/log"
    wrong "a command fails with status $status"
  }
}
# heard N: so many ranks have heard from their neighbors.
heard() {
  [ "$(grep -c '^\(\[[0-9]*\] \)\{0,1\}rank [0-9]* heard from rank [0-9]*$' "$folder/log")" = "$1" ] && return
  cat "$folder/log"
  wrong "not $1 ranks have heard from their neighbors"
}
said() { grep -q -- "$1" "$folder/log" || { cat "$folder/log"; wrong "nothing said '$1'"; }; }

case $part in
  here)
    follow timeout -k 10 220
    # Jobs of hello.c in this part, by the number of their ranks.
    heard $(($(grep -c 'run -n 4 .*\./hello\|hello : -n 1\|^CAUSEWAY_RANKS=4 ' "$folder/commands.here") * 4 +
      $(grep -c 'run -n 8 .*\./hello' "$folder/commands.here") * 8 + $(grep -c 'run -n 2 .*\./hello' "$folder/commands.here") * 2))
    said 'asked: gex_Event_Wait() has waited for .* for gex_Coll_BarrierNB()'
    said 'waits .* s in gex_Event_Wait() for'
    said 'status 143'
    said '\./hang('
    said ', 0 failed'
    said 'uds'
    ;;
  hosts)
    . "$here/../hosts/netns.sh"
    make_hosts
    for host in $host_a $host_b; do ip -n $host route add default dev cwy0; done
    # Options, --, the host, a command for a shell; or, as an agent of --agent, the host and words.
    mkdir "$work/bin"
    cat >"$work/bin/ssh" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do
  case \$1 in -o) shift ;; --) shift; break ;; esac
  shift
done
case \$1 in node01) host=$host_a ;; node02) host=$host_b ;; *) echo "no such host: \$1" >&2; exit 255 ;; esac
shift
exec ip netns exec \$host sh -c "\$*"
END
    chmod +x "$work/bin/ssh"
    PATH=$work/bin:$PATH
    hear=17
    if ! ldd "$tree/bin/causeway" | grep -q libssl; then
      sed -i '/ --encrypt /d' "$folder/commands.$part"  # built without TLS
      hear=13
    fi
    follow timeout -k 10 220 ip netns exec $host_a
    heard $hear
    said 'eth'
    expect_nothing_left hosts
    ;;
  slurm)
    . "$here/../hosts/slurm.sh"
    start_cluster
    follow timeout -k 10 220
    heard 12
    said 'pmix'
    expect_clean_end
    ;;
  packaging)
    # Everything of the sources but what was built, and the build that is to be packed.
    for entry in "$source"/* "$source"/.[a-z]*; do
      case ${entry##*/} in build* | .git) ;; *) ln -s "$entry" . ;; esac
    done
    mkdir build
    ln -s "$build" build/release
    follow timeout -k 10 220
    heard 4
    said 'Every plugin found or configured loads'
    said 'causeway-run.1'
    ! sed -n '/causeway info/,$p' "$folder/log" | grep -q 'conduit *verbs' || wrong "a conduit that was left out is there"
    ;;
  *) wrong "no part '$part'" ;;
esac
