#!/usr/bin/env bash
# Starts or stops a private Slurm on this machine: tests/cluster/slurm.sh start|stop FOLDER PORT
# This Slurm has a controller and two nodes, each with eight cores and two GPUs (copies of
# /dev/null). The script needs root and Debian's packages slurmctld, slurmd, slurm-client and munge.
# The script needs neither systemd nor cgroups, and uses the TCP ports PORT to PORT+3.
set -u
folder="$(realpath -m "$2")"
port="$3"
export SLURM_CONF="$folder/slurm.conf"
host="$(hostname -s)"

configure() {
  mkdir -p "$folder"/{state,log,dev,spool/n1,spool/n2}
  chmod 755 "$folder"
  for gpu in 0 1 2 3; do [ -e "$folder/dev/gpu$gpu" ] || mknod "$folder/dev/gpu$gpu" c 1 3; done
  dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 status=none
  chmod 600 "$folder/munge.key"
  cat >"$SLURM_CONF" <<EOF
ClusterName=evotest
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge.sock,cred_expire=3
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=10
InactiveLimit=0
KillWait=1
Waittime=0
MessageTimeout=5
UnkillableStepTimeout=10
PropagateResourceLimits=NONE
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=8 RealMemory=2000 Gres=gpu:2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 3)) CPUs=8 RealMemory=2000 Gres=gpu:2
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
EOF
  cat >"$folder/gres.conf" <<EOF
AutoDetect=off
NodeName=n1 Name=gpu File=$folder/dev/gpu[0-1]
NodeName=n2 Name=gpu File=$folder/dev/gpu[2-3]
EOF
  echo "CgroupPlugin=cgroup/v1" >"$folder/cgroup.conf" # Slurm demands this file, but never uses it
}

is_running() { # a zombie process counts as ended
  case "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null)" in "" | Z*) return 1 ;; esac
}

end() {
  local process="$1" i
  kill "$process" 2>/dev/null
  for i in $(seq 60); do
    is_running "$process" || return
    sleep 0.05
  done
  kill -9 "$process" 2>/dev/null
}

case "$1" in
  start)
    configure
    munged --force --socket="$folder/munge.sock" --key-file="$folder/munge.key" \
      --pid-file="$folder/munged.pid" --log-file="$folder/log/munged.log" \
      --seed-file="$folder/munge.seed" --num-threads=2 || exit 1
    slurmctld -c -f "$SLURM_CONF" || exit 1
    for node in n1 n2; do slurmd -c -f "$SLURM_CONF" -N "$node" || exit 1; done
    for i in $(seq 400); do
      [ "$(sinfo -h -N -o %T 2>/dev/null | grep -cx idle)" = 2 ] && exit 0
      sleep 0.05
    done
    echo "the nodes do not become idle" >&2
    exit 1
    ;;
  stop)
    scancel -u "$(id -un)" 2>/dev/null
    for file in "$folder"/slurmd-*.pid "$folder/slurmctld.pid" "$folder/munged.pid"; do
      [ -s "$file" ] && end "$(cat "$file")"
    done
    exit 0
    ;;
esac
echo "usage: $0 start|stop FOLDER PORT" >&2
exit 2
