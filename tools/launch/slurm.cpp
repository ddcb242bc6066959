#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "tools/launch/launch.hpp"

namespace evo {
namespace {

/// A shell script that runs inside a Slurm allocation. $1: evo-worker, $2: HOST:PORT, $3: devices
/// of a task, or none, $4: number of compilers per node, or all.
///
/// --exact: the steps share the nodes. -k, -K0: a failing node or task does not stop the others.
/// --gres=none: the step without GPUs does not wait for the GPUs of the other step. Slurm rejects
/// --gres=none if the allocation set SLURM_GPUS_PER_NODE, so the script unsets the variable.
constexpr const char* kSteps = R"sh(
nodes=${SLURM_JOB_NUM_NODES:-${SLURM_NNODES:-1}}
gpus=${SLURM_GPUS_ON_NODE:-${SLURM_GPUS_PER_NODE:-0}}
gpus=${gpus##*:}
[ "$3" != none ] || gpus=0
cpus=${SLURM_JOB_CPUS_PER_NODE:-${SLURM_CPUS_ON_NODE:-1}}
cpus=${cpus%%[!0-9]*}
rest=$((cpus - gpus))
[ "$4" = all ] || rest=$4
if [ "$gpus" -gt 0 ]; then
  srun -u -k -K0 --exact -J evo-device -N "$nodes" --ntasks-per-node="$gpus" --gpus-per-task=1 -c1 \
    "$1" device "$3" --connect "$2" &
fi
if [ "$rest" -gt 0 ]; then
  unset SLURM_GPUS SLURM_GPUS_ON_NODE SLURM_GPUS_PER_NODE SLURM_GPUS_PER_TASK SLURM_NTASKS_PER_NODE
  srun -u -k -K0 --exact -J evo-compile -N "$nodes" --ntasks-per-node=1 -c "$rest" --gres=none \
    "$1" compile --jobs "$rest" --connect "$2" &
fi
trap 'kill -TERM $(jobs -p) 2>/dev/null' TERM
wait
wait # again, because SIGTERM ends the first wait
)sh";

}  // namespace

std::vector<LaunchCommand> slurm_commands(const std::string& arguments, bool makes_one,
                                          const LaunchRequest& request) {
  LaunchCommand command;
  if (makes_one) {
    command.words = {"sh", "-c", "exec salloc -J evo-tune " + arguments + " sh -c \"$0\" \"$@\"",
                     kSteps};
  } else if (environment_variable("SLURM_JOB_ID")) {
    command.words = {"sh", "-c", kSteps};
  } else {
    throw InputError(
        "--workers slurm: evo-tune runs outside of an allocation (SLURM_JOB_ID is not set); "
        "start evo-tune within salloc or sbatch, or let evo-tune call salloc: "
        "--workers 'slurm:-N 2 --gpus-per-node=4'");
  }
  command.words.insert(command.words.end(), {"evo-workers", request.worker, request.address,
                                             request.device, request.jobs});
  return {command};
}

}  // namespace evo
