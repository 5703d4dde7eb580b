#!/usr/bin/env bash
# A service's process where its container would put it, without a daemon: its image's paths, its own
# volumes, host name, user and processors, no privileges, and a root that is only read if it says so.
# Runs inside a mount namespace that its caller made.
#   container.sh ROOT HOSTNAME USER CPUS READONLY MOUNTS -- COMMAND...
# MOUNTS: lines "bind SOURCE TARGET ro|rw" and "tmpfs TARGET".
set -euo pipefail
root=$1 name=$2 user=$3 cpus=$4 readonly=$5 mounts=$6
shift 7

mount -t tmpfs root "$root"
place() { # SOURCE TARGET
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root$(dirname "$2")" && touch "$root$2"; fi
  mount --rbind "$1" "$root$2"
}
for path in /usr /bin /sbin /lib /lib64 /dev /proc /etc/passwd /etc/group /etc/nsswitch.conf \
  /etc/ld.so.cache /etc/alternatives; do
  [ -e "$path" ] && place "$path" "$path"
done
while read -r kind source target mode; do
  case $kind in
    bind)
      place "$source" "$target"
      [ "$mode" = rw ] || mount -o remount,ro,bind "$root$target"
      ;;
    tmpfs)
      mkdir -p "$root$source"
      mount -t tmpfs -o mode=1777 tmpfs "$root$source"
      ;;
  esac
done <"$mounts"
[ "$readonly" = yes ] && mount -o remount,ro "$root"
hostname "$name"
exec taskset -c "$cpus" chroot "$root" \
  setpriv --reuid="$user" --regid="$user" --clear-groups --bounding-set=-all --no-new-privs "$@"
