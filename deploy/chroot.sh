#!/usr/bin/env bash
# The Debian package on a new Debian: installs it in a chroot that has nothing else, checks what came
# with it, and runs the main job there as a user.  As root; the chroot is removed.
#   chroot.sh PACKAGE.deb     ./dev chroot calls it
set -euo pipefail
package=$(realpath "${1:?usage: chroot.sh PACKAGE.deb}")
root=$(mktemp -d /var/tmp/headsplit-chroot.XXXXXX)
finish() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap finish EXIT
say() { echo "chroot: $*"; }

mmdebstrap --variant=apt bookworm "$root" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
rm "$root.log"
rm -rf "$root"/var/lib/apt/lists/*
before=$(du -sm "$root" | cut -f1)
say "a new Debian 12: $SECONDS s, $before MB"

from=$SECONDS
cp "$package" "$root/tmp/"
chroot "$root" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
  --no-install-recommends /tmp/$(basename "$package")" >"$root/tmp/install.log" 2>&1 ||
  { tail -n 20 "$root/tmp/install.log" >&2; exit 1; }
rm -rf "$root"/var/lib/apt/lists/* "$root/tmp/$(basename "$package")"
say "installed $(basename "$package") ($(du -k "$package" | cut -f1) kB): $((SECONDS - from)) s," \
  "$(($(du -sm "$root" | cut -f1) - before)) MB with what it needs"

mount -t proc proc "$root/proc"
as_user() { chroot "$root" setpriv --reuid=65534 --regid=65534 --clear-groups env -i \
  PATH=/usr/bin:/bin HOME=/tmp "$@"; }
as_user headsplit --version
as_user sh -c 'test -s /usr/share/man/man1/headsplit.1 -o -s /usr/share/man/man1/headsplit.1.gz'
from=$SECONDS
as_user sh -c 'cd /tmp && headsplit run /usr/share/headsplit/configs/sweeps/quick.yaml --backend cpu --db rows.db' \
  >"$root/tmp/quick.txt"
tail -n 5 "$root/tmp/quick.txt"
grep -q tp8 "$root/tmp/quick.txt"
say "quick.yaml: $((SECONDS - from)) s, $(as_user headsplit export --db /tmp/rows.db --format jsonl | wc -l) rows"
