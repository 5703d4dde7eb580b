#!/usr/bin/env bash
# Builds all images with buildah, without a daemon, on a Debian base made here from Debian's packages,
# and runs the main job in the `cpu` image.  What is built stays in $HEADSPLIT_IMAGES, or is removed.
#   images.sh [TARGET...]      of: coordinator cpu agent (agent: only where a CUDA toolkit is)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
store=${HEADSPLIT_IMAGES:-$(mktemp -d /var/tmp/headsplit-images.XXXXXX)}
targets=("$@")
if [ $# = 0 ]; then
  targets=(coordinator cpu)
  if [ -x /usr/local/cuda/bin/nvcc ]; then targets+=(agent); fi
fi
version=$(sed -n 's/^project(headsplit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
revision=$(git describe --always --dirty=+ --abbrev=10)
coordinator_limit_mb=150

mkdir -p "$store/storage" "$store/run" "$store/tmp"
cat >"$store/storage.conf" <<TEXT
[storage]
driver = "${HEADSPLIT_STORAGE_DRIVER:-overlay}"
graphroot = "$store/storage"
runroot = "$store/run"
TEXT
export CONTAINERS_STORAGE_CONF=$store/storage.conf BUILDAH_ISOLATION=chroot TMPDIR=$store/tmp
finish() {
  [ -z "${HEADSPLIT_IMAGES:-}" ] || return 0
  # A build that was cut short leaves its mounts behind.
  findmnt -rno TARGET | { grep "^$store/" || true; } | tac | xargs -r umount -l
  rm -rf --one-file-system "$store"
}
trap finish EXIT
say() { echo "images: $*"; }
timed() { # WHAT COMMAND...: how long it took, with its output in a log
  local what=$1 from=$SECONDS
  shift
  "$@" >"$store/log" 2>&1 || { tail -n 40 "$store/log" >&2; say "$what failed" >&2; exit 1; }
  say "$what: $((SECONDS - from)) s"
}

base() {
  # What Debian's own slim images leave out.
  local option options=()
  for option in doc man info locale groff lintian; do
    options+=("--dpkgopt=path-exclude=/usr/share/$option/*")
  done
  mmdebstrap --variant=apt "${options[@]}" '--dpkgopt=path-include=/usr/share/doc/*/copyright' \
    bookworm "$store/base.tar"
  buildah from --name base scratch
  buildah add base "$store/base.tar" /
  buildah commit base localhost/headsplit-base:bookworm
  buildah rm base
  rm "$store/base.tar"
}
# In the place of NVIDIA's image: this machine's toolkit, without libraries that compile nothing.
cuda() {
  buildah from --name cuda scratch
  local root
  root=$(buildah mount cuda)
  mkdir -p "$root/usr/local/cuda/lib" "$root/usr/include"
  ln -s lib "$root/usr/local/cuda/lib64"
  cp -a /usr/local/cuda/targets "$root/usr/local/cuda/"
  cp -rL --preserve=timestamps /usr/local/cuda/{bin,nvvm,include} "$root/usr/local/cuda/"
  find -L /usr/local/cuda/lib64 -maxdepth 1 -type f -size -40M \
    -exec cp -L --preserve=timestamps {} "$root/usr/local/cuda/lib64/" \;
  cp -rL /usr/local/cuda/lib64/stubs "$root/usr/local/cuda/lib64/"
  buildah umount cuda
  buildah commit cuda localhost/headsplit-cuda:local
  buildah rm cuda
}
image() { # TARGET FILE OPTIONS...
  local target=$1 file=$2
  shift 2
  buildah bud --format docker --layers --network host -f "$file" --target "$target" \
    --build-arg VERSION="$version" --build-arg REVISION="$revision" \
    --build-arg BASE=localhost/headsplit-base:bookworm "$@" -t "localhost/headsplit-$target:$version" .
}
size_mb() { buildah images --json "$1" | sed -n 's/.*"size": "\([0-9.]*\) \([MG]\)B".*/\1 \2/p' | awk '{print int($2 == "G" ? $1 * 1000 : $1)}'; }
in_image() { # TARGET COMMAND...
  local container status=0
  container=$(buildah from "localhost/headsplit-$1:$version")
  shift
  buildah run --isolation chroot --user headsplit "$container" -- "$@" || status=$?
  buildah rm "$container" >/dev/null
  return $status
}

buildah inspect --type image localhost/headsplit-base:bookworm >/dev/null 2>&1 || timed "base" base
for target in "${targets[@]}"; do
  case $target in
    agent)
      buildah inspect --type image localhost/headsplit-cuda:local >/dev/null 2>&1 ||
        timed "CUDA stand-in" cuda
      timed "agent" image agent docker/agent.Dockerfile \
        --build-arg CUDA=localhost/headsplit-cuda:local --build-arg BUILD_BASE=localhost/headsplit-base:bookworm
      in_image agent headsplit-agent --version
      ;;
    coordinator | cpu) timed "$target" image "$target" docker/Dockerfile ;;
    *) say "no image '$target': coordinator, cpu or agent" >&2; exit 2 ;;
  esac
  say "$target: $(size_mb "localhost/headsplit-$target:$version") MB"
done
for target in "${targets[@]}"; do
  case $target in
    coordinator)
      [ "$(size_mb "localhost/headsplit-coordinator:$version")" -lt $coordinator_limit_mb ] ||
        { say "coordinator: $coordinator_limit_mb MB or more" >&2; exit 1; }
      in_image coordinator headsplit-coordinator --version
      ;;
    cpu)
      from=$SECONDS
      in_image cpu headsplit run /opt/headsplit/share/headsplit/configs/sweeps/quick.yaml --backend cpu |
        tee "$store/quick.txt" | tail -n 5
      grep -q tp8 "$store/quick.txt"
      say "quick.yaml in the cpu image: $((SECONDS - from)) s"
      ;;
  esac
done
say "all in $SECONDS s"
