#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of the README in a fresh clone on a minimal system, so that nothing that happens to be installed on the
# host is taken for granted.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() {
  cat <<TEXT
tests/package/minimal_system.sh [--cache DIR] [--folder DIR] [--keep] [COMMAND...]

Create a minimal system of the host's distribution (mmdebstrap, variant minbase, and ca-certificates), clone the last commit
of this repository into it, and run each COMMAND there, by default './dev run' and then './dev test'. Print the exit code and
the duration of each command; exit with the first code other than 0, after which no further command runs.

Requires root, mmdebstrap, git, 20 GB of disk space and a network. Packages come from the mirrors in /etc/apt, and wheels from
where pip's configuration and environment variables say.

  --cache DIR    keep the caches of pip and ccache in DIR, so that the next system downloads and compiles less
  --folder DIR   create the system in DIR, which must not exist [a new directory in ${TMPDIR:-/var/tmp}]
  --keep         do not remove the system; a later call with the same --folder continues in it, with the same clone
TEXT
}

fail() { echo "minimal_system.sh: $1" >&2; exit 2; }

system='' cache='' keep='' commands=()
while [ $# != 0 ]; do
  case "$1" in
    --cache) mkdir -p "${2:?}" && cache=$(cd "$2" && pwd) && shift ;;
    --folder) system=$(realpath -m "${2:?}") && shift ;;
    --keep) keep=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) fail "unknown option '$1'; see --help" ;;
    *) commands+=("$1") ;;
  esac
  shift
done
[ ${#commands[@]} != 0 ] || commands=('./dev run' './dev test')
[ "$(id -u)" = 0 ] || fail "needs root, to mount file systems: sudo --preserve-env $0"
command -v mmdebstrap >/dev/null || fail "needs mmdebstrap: apt-get install mmdebstrap"

# Mounts and processes end with this script, whatever happens to it.
if [ -z "${KYMO_MINIMAL_SYSTEM:-}" ]; then
  system=${system:-$(mktemp -d "${TMPDIR:-/var/tmp}/kymo-system-XXXXXX")/root}
  code=0
  KYMO_MINIMAL_SYSTEM=1 unshare --mount --pid --fork --kill-child -- "${BASH_SOURCE[0]}" --folder "$system" --keep \
    ${cache:+--cache "$cache"} "${commands[@]}" || code=$?
  [ -n "$keep" ] || rm -rf --one-file-system "$system"
  rmdir "$(dirname "$system")" 2>/dev/null || true
  exit $code
fi

# The host's sources of packages for its own release; other repositories need keys that the minimal system does not have.
sources_of_host() {
  local release file
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    ! grep -qs "^[^#]*\b$release\b" "$file" || echo "$file"
  done
}

create() {
  local release sources setting
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mapfile -t sources < <(sources_of_host)
  [ ${#sources[@]} != 0 ] || fail "no file in /etc/apt names a mirror for '$release'"
  mkdir -p "$system"
  # Proxies, certificates and what the mirrors need, for mmdebstrap and for ./dev.
  setting=$(mktemp)
  apt-config dump Acquire >"$setting"
  mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates --aptopt="$setting" "$release" "$system" "${sources[@]}"
  rm "$setting"
  # Mirrors may be signed for a network that has certificates of its own.
  cp -L /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/ca-certificates.crt"
  cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
  local file
  for file in /etc/pip.conf "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [ ! -f "$file" ] || cat "$file" >>"$system/etc/pip.conf"
  done
  git clone --quiet --no-hardlinks "$root" "$system/root/kymo"
}

mount_all() {
  mount --make-rprivate /
  mount --bind "$system" "$system"  # some tests make the root of all mounts private, which must be a mount itself
  mount -t proc proc "$system/proc"
  mount --rbind /dev "$system/dev"
  mount -t tmpfs tmpfs "$system/dev/shm"
  mount --rbind /sys "$system/sys"
  mount -t tmpfs tmpfs "$system/run"
  local name
  [ -z "$cache" ] || for name in pip ccache; do
    mkdir -p "$cache/$name" "$system/root/.cache/$name"
    mount --bind "$cache/$name" "$system/root/.cache/$name"
  done
}

# Runs a command in the clone, in the environment of a new login and with the host's settings for pip, ccache and the network.
inside() {
  local settings
  mapfile -t settings < <(env | grep -E '^((PIP|CCACHE)_[A-Z_]+|(https?|ftp|no|all)_proxy|(HTTPS?|FTP|NO|ALL)_PROXY)=' || true)
  chroot "$system" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" \
    bash -c "cd /root/kymo && $1" </dev/null
}

if [ ! -d "$system/root/kymo" ]; then
  echo "==> Creating a minimal system in $system" >&2
  create
fi
mount_all
for command in "${commands[@]}"; do
  code=0
  SECONDS=0
  echo "==> $command" >&2
  inside "$command" || code=$?
  echo "==> $command: exit code $code after $SECONDS s" >&2
  [ $code = 0 ] || exit $code
done
