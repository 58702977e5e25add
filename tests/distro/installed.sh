#!/bin/sh
# Runs in a clean root of Debian that has a C compiler, with the packages in /packages: see debian.sh.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
fail() { echo "installed: $*"; exit 1; }
# Files of the root but for the package manager's own books, and what keeps a copy of the users' ones when a
# package that ours depend on adds a group.
list() { find / -xdev \( -path /packages -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
  -o -path /var/cache -o -path /var/log -o -path /run \) -prune -o ! -type d -print | grep -vE '^/etc/(ld\.so\.cache|(passwd|shadow|group|gshadow)-)$' | sort; }
apt-get update >/dev/null
list >/tmp/before
dpkg-query -W -f '${Package}\n' | sort >/tmp/packages-before
cd /packages
install() { apt-get install -q -y --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "apt-get install $* fails"; }; }

# ---- the first program, from the library, its headers and the command ----
install ./libcauseway0_*.deb ./libcauseway-dev_*.deb ./causeway_*.deb
# shellcheck disable=SC2046 # flags are words
cc hello.c $(pkg-config --cflags --libs causeway) -o /tmp/hello || fail "the first program does not build"
expected='rank 0 heard from rank 3
rank 1 heard from rank 0
rank 2 heard from rank 1
rank 3 heard from rank 2'
four() { timeout 60 "$@" >/tmp/out 2>/tmp/err || { cat /tmp/out /tmp/err; fail "$* fails"; }; }
four causeway run -n 4 /tmp/hello
[ "$(sort /tmp/out)" = "$expected" ] || fail "the first program says $(cat /tmp/out)"
# Networks that are not installed are not missed.
[ ! -s /tmp/err ] || fail "somebody speaks: $(cat /tmp/err)"
four env CAUSEWAY_RANKS=4 /tmp/hello
[ "$(sort /tmp/out)" = "$expected" ] || fail "CAUSEWAY_RANKS=4: $(cat /tmp/out)"
four causeway run -n 4 --config /usr/share/causeway/configs/sites/am-only.yaml /tmp/hello
four causeway info
# A program is started by somebody who is not root, too.
chmod 755 /tmp/hello
four setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp causeway run -n 4 /tmp/hello
# The site's file lies where Debian's do.
echo 'nonsense: 1' >/etc/causeway.yaml
if timeout 60 causeway run -n 2 /tmp/hello >/tmp/out 2>&1; then fail "/etc/causeway.yaml is not read"; fi
grep -q '/etc/causeway.yaml:1' /tmp/out || fail "nobody names /etc/causeway.yaml: $(cat /tmp/out)"
rm /etc/causeway.yaml

# ---- everything ----
# shellcheck disable=SC2046 # a list of words
install $(find . -name '*.deb' ! -name '*-dbgsym_*')
four causeway info
four causeway run -n 4 /tmp/hello
four causeway run -n 4 /usr/libexec/causeway/heat
# shellcheck disable=SC2046
cc -w hello.c $(pkg-config --cflags --libs gasnet-udp-par) -o /tmp/hello-udp || fail "a program of an identity does not build"
four amudprun -np 4 /tmp/hello-udp
[ "$(sort /tmp/out)" = "$expected" ] || fail "the program of an identity says $(cat /tmp/out)"

# ---- no trace ----
rm -f /tmp/hello /tmp/hello-udp
comm -13 /tmp/packages-before - >/tmp/new <<END
$(dpkg-query -W -f '${Package}\n' | sort)
END
# shellcheck disable=SC2046
apt-get purge -q -y $(cat /tmp/new) >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "the purge fails"; }
list >/tmp/after
cmp -s /tmp/before /tmp/after || { diff /tmp/before /tmp/after || true; fail "the purge leaves a trace"; }
left=$(find / -xdev -path /packages -prune -o -path /proc -prune -o -name '*causeway*' ! -path '/var/log/*' ! -path '/var/cache/*' -print)
[ -z "$left" ] || fail "left after the purge: $left"
echo "installed: all is well"
