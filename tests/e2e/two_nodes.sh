#!/usr/bin/env bash
# Two nodes on one machine: network namespaces with host names of their own, joined by a cable.
# mpirun on the first starts two agents on each; a coordinator on the first serves them.  Writes the
# rows of a sweep of gangs of four to standard output.  Exit 77: this machine does not permit it.
set -euo pipefail
work=${1:?usage: two_nodes.sh FOLDER}
bin=${HEADSPLIT_BIN:?HEADSPLIT_BIN must name the folder of the programs}
tag=hs$$
mkdir -p "$work"

skip() { echo "skipped: $*" >&2; exit 77; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
command -v ip >/dev/null || skip "no ip command (package iproute2)"
command -v mpirun >/dev/null || skip "no mpirun (package openmpi-bin)"
ip netns add "${tag}a" 2>"$work/netns.err" || skip "ip netns add: $(cat "$work/netns.err")"

started=()
end() {
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
  ip netns del "${tag}a" 2>/dev/null || true
  ip netns del "${tag}b" 2>/dev/null || true
}
trap end EXIT

ip netns add "${tag}b"
ip link add "${tag}a" type veth peer name "${tag}b" || skip "no veth"
for side in a b; do
  ip link set "$tag$side" netns "$tag$side"
  ip -n "$tag$side" link set lo up
  ip -n "$tag$side" link set "$tag$side" up
done
ip -n "${tag}a" addr add 10.213.7.1/24 dev "${tag}a"
ip -n "${tag}b" addr add 10.213.7.2/24 dev "${tag}b"

# on NODE COMMAND...: on that node, under its host name.
cat >"$work/on" <<TEXT
#!/bin/sh
node=\$1; shift
exec ip netns exec ${tag}\$node unshare --uts sh -c 'hostname gang-'\$node'; exec "\$@"' sh "\$@"
TEXT
# What mpirun calls in the place of ssh: HOST COMMAND.
cat >"$work/rsh" <<TEXT
#!/bin/sh
shift
exec "$work/on" b sh -c "\$*"
TEXT
chmod +x "$work/on" "$work/rsh"

echo "a token for two nodes" >"$work/token"
"$work/on" a "$bin/headsplit-coordinator" --listen 10.213.7.1:7077 --db "$work/rows.db" \
  --token-file "$work/token" >"$work/coordinator.out" 2>"$work/coordinator.err" &
started+=($!)
for _ in $(seq 100); do grep -q listening "$work/coordinator.out" && break; sleep 0.1; done
grep -q listening "$work/coordinator.out" || { cat "$work/coordinator.err" >&2; exit 1; }

"$work/on" a mpirun --allow-run-as-root --oversubscribe -np 4 \
  --host 10.213.7.1:2,10.213.7.2:2 --mca plm_rsh_agent "$work/rsh" \
  --mca oob_tcp_if_include 10.213.7.0/24 \
  --mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3 \
  "$bin/headsplit-agent" --coordinator http://10.213.7.1:7077 --backend cpu --threads 1 \
  --token-file "$work/token" >"$work/mpirun.out" 2>&1 &
started+=($!)

cat >"$work/nodes.yaml" <<'TEXT'
name: nodes
ranks: real
layouts: [{tp: 4}, {tp: 2, cp: 2}]
axes: {batch: 1, context: 256, l2: warm}
measure: {min_time_ms: 1, max_noise: 0.9, max_time_ms: 50}
TEXT
HEADSPLIT_TOKEN=$(cat "$work/token")
export HEADSPLIT_TOKEN
timeout -k 5 45 "$work/on" a "$bin/headsplit" submit "$work/nodes.yaml" --wait \
  --coordinator http://10.213.7.1:7077 >"$work/submit.out" 2>&1 ||
  { cat "$work/submit.out" "$work/mpirun.out" "$work/coordinator.err" >&2; exit 1; }
"$bin/headsplit" export --db "$work/rows.db" --format jsonl
