# A clean Debian or Ubuntu in a chroot, for trying what is installed in it. To be sourced by bash, as root.
# RELEASE is a codename: bookworm, trixie, forky or sid of Debian; another is one of Ubuntu's (noble, resolute).
#   distribution RELEASE    prints "debian" or "ubuntu"
#   cached_system RELEASE   prints where the one in the cache is or will be; fails where it is not there
#   clean_system RELEASE    makes $root, a copy of that (debootstrap takes a minute, once), gone at exit. Not to be
#                           called in a condition, where bash goes on after a command that failed
#   in_clean WORD...   runs a command in it
#   in_net "COMMANDS"  the same by a shell, in a network of its own: what is tried touches nothing of this machine's
#   try_path COMMAND PORT   a path between two namespaces of it by this kind of port: three of three pings

in_clean() { chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "${forwarded[@]}" "$@"; }
in_net() { unshare --net chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C sh -ec "ip link set lo up; $1"; }

leave_clean() {
  ! mountpoint -q "$root" || umount -R "$root"
  rm -rf --one-file-system "$root"
}

distribution() {
  case $1 in
    bookworm | trixie | forky | sid) echo debian ;;
    *) echo ubuntu ;;
  esac
}

cached_system() {
  local clean=${VIADUCT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/viaduct}/$(distribution "$1")-$1-$(dpkg --print-architecture)
  echo "$clean"
  [ -e "$clean/.complete" ]
}

clean_system() {
  local release=$1 clean mirror script each components=main standard=sid from=http://deb.debian.org/debian
  local distribution=$(distribution "$1")
  [ "$distribution" = debian ] || { components=main,universe standard=gutsy from=http://archive.ubuntu.com/ubuntu; }
  clean=$(cached_system "$release") || :
  [ "$(id -u)" = 0 ] || { echo "a chroot needs root" >&2; exit 3; }
  # The mirror that this machine uses, if it is one of this distribution.
  mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null |
    sed -n "s/^URIs: *\([^ ]*\/$distribution\)\/\?\( .*\)\?\$/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\/$distribution\)\/\? .*/\2/p" | sed q) || :
  mirror=${mirror:-$from}
  if [ ! -e "$clean/.complete" ]; then
    rm -rf "$clean"
    mkdir -p "${clean%/*}"
    script=/usr/share/debootstrap/scripts/$release
    [ -e "$script" ] || script=${script%/*}/$standard  # a release that is newer than debootstrap
    debootstrap --variant=minbase --components=$components "$release" "$clean" "$mirror" "$script" >"$clean.log" || { tail -n 3 "$clean.log" >&2; exit 3; }
    touch "$clean/.complete"
  fi
  root=$(mktemp -d "${TMPDIR:-/tmp}/viaduct-clean-XXXXXX")
  trap leave_clean EXIT
  cp -a "$clean/." "$root"
  mount --bind "$root" "$root"  # ip netns needs a mount point
  mount --make-private "$root"
  mount -t proc none "$root/proc"
  mount -t sysfs none "$root/sys"
  mount -t tmpfs none "$root/run"
  mkdir -p "$root/dev/shm" "$root/dev/net"
  mount -t tmpfs none "$root/dev/shm"
  [ -e "$root/dev/net/tun" ] || mknod "$root/dev/net/tun" c 10 200
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
  rm -f "$root"/etc/apt/sources.list.d/*
  printf 'deb %s %s %s\n' "$mirror" "$release" "${components//,/ }" >"$root/etc/apt/sources.list"
  # pip's way to its index, as this machine has it.
  forwarded=()
  for each in PIP_INDEX_URL PIP_TRUSTED_HOST https_proxy; do
    [ -z "${!each-}" ] || forwarded+=("$each=${!each}")
  done
  if [ -f "${PIP_CERT-}" ]; then
    cp "$PIP_CERT" "$root/etc/index.crt"
    forwarded+=(PIP_CERT=/etc/index.crt)
  fi
}

try_path() {
  in_net '
  rm -f /tmp/path.json
  ip netns add left; ip netns add right; ip netns add middle
  ip -n middle link add name a type veth peer name eth0 netns left
  ip -n middle link add name b type veth peer name eth0 netns right
  for each in "middle a" "middle b" "left eth0" "right eth0"; do set -- $each; ip -n $1 link set dev $2 up; done
  ip -n left address add 10.0.0.1/24 dev eth0
  ip -n right address add 10.0.0.2/24 dev eth0
  ip netns exec middle '"$1"' path --between a b --port '"$2"' --up delay=20ms --duration 10s --json /tmp/path.json &
  ip netns exec left ping -q -c 3 -w 9 10.0.0.2
  wait
  grep -q "\"delivered\"" /tmp/path.json
  for each in left right middle; do ip netns delete $each; done'
}
