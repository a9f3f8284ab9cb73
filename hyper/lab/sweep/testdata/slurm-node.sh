#!/bin/bash
# Starts a Slurm cluster on this machine for a test, as root, with all its files in a folder: slurm-node.sh FOLDER. It
# prints the path of slurm.conf, which SLURM_CONF must name for sbatch and the other commands, and leaves the daemons
# running. slurm-node.sh FOLDER stop ends them. Debian: apt-get install slurm-wlm munge.
set -euo pipefail
dir=$(realpath -m "$1")
host=$(hostname -s)

stop() {
	for name in slurmd slurmctld munged; do
		[ ! -s "$dir/$name.pid" ] || kill "$(cat "$dir/$name.pid")" 2>/dev/null || true
	done
}
if [ "${2-}" = stop ]; then
	stop
	exit
fi

mkdir -p "$dir"/{state,spool,munge}
chmod 0700 "$dir/munge"
dd if=/dev/urandom of="$dir/munge/key" bs=128 count=1 status=none
chmod 0400 "$dir/munge/key"
# --force: parent folders, such as /tmp, may be writable for all.
munged --force --key-file="$dir/munge/key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" --seed-file="$dir/munge/seed" --log-file="$dir/munge/log"

cat >"$dir/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=1,sched_interval=1,requeue_delay=1
SchedulerType=sched/backfill
MpiDefault=none
ReturnToService=2
KillWait=30
MinJobAge=60
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=20
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=OFF
END
# cred_expire is the least time that a requeued job waits. The default is two minutes.
export SLURM_CONF=$dir/slurm.conf
slurmctld
slurmd
for _ in $(seq 60); do
	if [ "$(sinfo --noheader --format=%T --partition=low 2>/dev/null)" = idle ]; then
		echo "$dir/slurm.conf"
		exit
	fi
	sleep 0.5
done
echo "no idle node after 30 seconds; see $dir/*.log" >&2
tail -n 20 "$dir"/*.log >&2
stop
exit 1
