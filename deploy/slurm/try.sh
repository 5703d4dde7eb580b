#!/usr/bin/env bash
# Runs headsplit.sbatch under a Slurm of its own: munged, slurmctld and slurmd on this machine, no
# systemd, ended again.  With srun; requeued in the middle of its sweep; with mpirun.  As root.
#   try.sh BIN_FOLDER     ./dev slurm calls it
set -euo pipefail
bin=$(cd "${1:?usage: try.sh BIN_FOLDER}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d /tmp/headsplit-slurm.XXXXXX)
chmod 755 "$work"
failed() {
  echo "slurm: $*" >&2
  tail -n 20 "$work"/job*.out "$work"/*/coordinator.log "$work"/*/agents.log "$work"/log/* >&2 2>/dev/null || true
  exit 1
}

start_slurm() {
  local node
  node=$(hostname -s)
  install -d -o munge -g munge -m 711 "$work/munge"
  mkdir "$work/state" "$work/spool" "$work/log"
  head -c 1024 /dev/urandom >"$work/munge/key"
  chown munge: "$work/munge/key"
  chmod 400 "$work/munge/key"
  setpriv --reuid=munge --regid=munge --clear-groups munged --key-file="$work/munge/key" \
    --socket="$work/munge/socket" --pid-file="$work/munge/pid" --log-file="$work/munge/log" \
    --seed-file="$work/munge/seed"
  export SLURM_CONF=$work/slurm.conf
  cat >"$SLURM_CONF" <<TEXT
ClusterName=headsplit
SlurmctldHost=$node
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
SlurmUser=root
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
JobRequeue=1
KillWait=15
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
SlurmdParameters=config_overrides
TEXT
  slurmctld -c
  slurmd
  for _ in $(seq 50); do sinfo -h -o %T 2>/dev/null | grep -q idle && return; sleep 0.2; done
  failed "no node became idle"
}
stop_slurm() {
  local pid
  scancel --quiet --user root 2>/dev/null || true
  for pid in slurmd slurmctld munge/pid; do
    pid=$work/${pid%/pid}$([ "$pid" = munge/pid ] && echo /pid || echo .pid)
    if [ -s "$pid" ]; then kill "$(cat "$pid")" 2>/dev/null || true; fi
  done
  sleep 1
  rm -rf "$work"
}
trap stop_slurm EXIT

# job NAME SWEEP LAUNCHER: hands the batch script in, with two tasks; sets $id and $out.
job() {
  mkdir -p "$work/$1"
  out=$work/job-$1.out
  id=$(PATH=$bin:$PATH HEADSPLIT_STATE=$work/$1 HEADSPLIT_BACKEND=cpu HEADSPLIT_PORT=27077 \
    HEADSPLIT_AGENT_OPTIONS="--threads 1" HEADSPLIT_SD=$work/$1/targets.json \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    sbatch --parsable --ntasks=2 --output="$out" "$here/headsplit.sbatch" "$2" "$3")
}
# Waits for that job's end.
ended() {
  local limit=$((SECONDS + 180)) state
  while [ $SECONDS -lt $limit ]; do
    state=$(scontrol show job "$id" | sed -n 's/.*JobState=\(\w*\).*/\1/p')
    case $state in
      COMPLETED) return ;;
      FAILED | CANCELLED | TIMEOUT | NODE_FAIL) failed "job $id: $state" ;;
    esac
    sleep 0.5
  done
  failed "job $id still $state"
}

start_slurm
echo "slurm: $(sinfo --version), $(sinfo -h -o '%D node, %c CPUs, %T')"
sweep=$here/../../configs/sweeps/smoke.yaml
for launcher in srun mpirun; do
  job "$launcher" "$sweep" "$launcher"
  ended
  grep -q tp8 "$out" || failed "$launcher: no table"
  agents=$("$bin/headsplit" export --db "$work/$launcher/headsplit.db" --format jsonl |
    sed 's/.*"agent":"\([^"]*\)".*/\1/' | sort -u | wc -l)
  [ "$agents" = 2 ] || failed "$launcher: rows of $agents agents, not of 2"
  [ ! -e "$work/$launcher/targets.json" ] || failed "the coordinator left its targets.json"
  echo "slurm: $launcher: 6 points by 2 agents"
done

# Long enough to be interrupted: requeued in its middle, it ends what is left and no more.
sed -e 's/max_time_ms: 200/max_time_ms: 2000/' -e 's/min_time_ms: 60/min_time_ms: 1500/' \
  -e 's/name: smoke/name: requeued/' "$sweep" >"$work/longer.yaml"
# interrupted NAME COMMAND...: the command is given the job's number once two points are done.
interrupted() {
  local name=$1 rows=0 kept
  shift
  job "$name" "$work/longer.yaml" srun
  exported() { "$bin/headsplit" export --db "$work/$name/headsplit.db" --format jsonl 2>/dev/null; }
  for _ in $(seq 200); do
    rows=$(exported | grep -c . || true)
    if [ "$rows" -ge 2 ]; then break; fi
    sleep 0.2
  done
  grep -q '"targets"' "$work/$name/targets.json" || failed "no targets.json while the coordinator runs"
  if [ "$rows" -lt 2 ] || [ "$rows" -ge 6 ]; then failed "$name with $rows of 6 rows"; fi
  "$@" "$id"
  sleep 3
  # Slurm lets a requeued job wait two minutes; not here.
  scontrol update JobId="$id" StartTime=now 2>/dev/null || true
  ended
  grep -q "start 2" "$out" || failed "the job was not started a second time"
  [ "$(exported | wc -l)" = 6 ] || failed "$(exported | wc -l) rows at the end"
  kept=$(exported | grep -c '"resumed":true')
  [ "$kept" -ge "$rows" ] || failed "only $kept rows of the first run were kept"
  echo "slurm: $name with $rows of 6 points measured: 6 rows at the end, $kept of them from before"
}
interrupted requeued scontrol requeue
# What --signal sends before the end of the job's time.
interrupted out-of-time scancel --batch --signal=TERM
