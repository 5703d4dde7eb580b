#!/usr/bin/env bash
# What a user of the packages gets: an installed tree that runs the main job from anywhere, and a
# Debian package whose dependencies are named.  run.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "${1:?run.sh needs the build folder}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed() {
  echo "package_test: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$scratch/usr" >"$scratch/install.log"
for file in bin/headsplit bin/headsplit-agent bin/headsplit-coordinator include/headsplit_kernel.h \
  share/headsplit/configs/devices.yaml share/headsplit/configs/models/deepseek-v3.json \
  share/headsplit/deploy/slurm/headsplit.sbatch share/headsplit/dashboards/prometheus.yml share/man/man1/headsplit.1 \
  share/bash-completion/completions/headsplit share/doc/headsplit/LICENSE; do
  [ -s "$scratch/usr/$file" ] || failed "$file is not installed"
done
for program in headsplit headsplit-agent headsplit-coordinator; do
  "$scratch/usr/bin/$program" --version >"$scratch/version.txt"
  for line in "^$program [0-9.]* (" '^build: ' '^CUDA: ' '^NCCL: .*; here: ' '^MPI: .*; here: '; do
    grep -q "$line" "$scratch/version.txt" || failed "$program --version has no line $line"
  done
done
grep -q '^\.SS headsplit run$' "$scratch/usr/share/man/man1/headsplit.1" ||
  failed "the manual page has no verb run"
bash -n "$scratch/usr/share/bash-completion/completions/headsplit" || failed "completion: no script"

cat >"$scratch/tiny.yaml" <<'YAML'
name: installed
model: deepseek-v3
kernels: [mla_dense]
tp: [1, 8]
axes: {batch: [1], context: [64]}
measure: {min_time_ms: 1, max_time_ms: 5}
YAML
cd "$scratch"
env -u HEADSPLIT_CONFIGS "$scratch/usr/bin/headsplit" run tiny.yaml --db rows.db --backend cpu \
  >run.txt 2>run.err || failed "the installed program does not run: $(cat run.err)"
grep -q tp8 run.txt || failed "no table: $(cat run.txt)"

command -v dpkg-shlibdeps >/dev/null || {
  echo "package_test: no dpkg-shlibdeps here: the Debian package was not made"
  exit 0
}
(cd "$build" && cpack -G DEB -B "$scratch/deb") >cpack.log 2>&1 || failed "cpack: $(cat cpack.log)"
package=$(echo "$scratch"/deb/*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 libsqlite3 libyaml-cpp libssl; do
  [[ $depends == *"$library"* ]] || failed "the package does not name $library: $depends"
done
mkdir root && dpkg-deb -x "$package" root
env -u HEADSPLIT_CONFIGS root/usr/bin/headsplit plan tiny.yaml >plan.txt ||
  failed "the packaged program does not plan"
echo "package_test: $(basename "$package"), $(du -k "$package" | cut -f1) kB, depends on $depends"
