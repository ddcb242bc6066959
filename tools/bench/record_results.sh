#!/usr/bin/env bash
# Runs the programs whose outputs make up a page of results, and stores each output in FOLDER.
# An output replaces an older output of the same step.
# tools/site/results.py makes the page from FOLDER.
# Usage: tools/bench/record_results.sh DEVICE FOLDER [--bin FOLDER] [--only GLOB]
#                                                     [--patience N] [--list]
#   DEVICE   cuda:N: a GPU; none: measurements that need no GPU
#            recorded: evaluations of recordings of GPUs, which need no GPU
#   FOLDER   such as docs/results/runs/nvidia-h100
#   --bin    folder of the programs (default: build/ci/bin, which has the tests' programs as well)
#   --only   runs only steps whose name matches the pattern, such as 'comparison.*'
#            The steps attention, elite.*, ideas.* and seeds.* use databases of the steps search.*
#            The steps accuracy and bundle use the bundles of the step attention. The step insight
#            uses the database of the step milestones.
#   --patience  ends a step after N times its expected seconds plus 10 seconds (default: 3)
#   --list   prints the steps and their expected seconds, and runs none
# The environment variable EVO_RECORDED names a folder of recorded spaces for evo-replay.
set -u
cd "$(dirname "$0")/../.." || exit 2
device="${1:?DEVICE: cuda:N, none or recorded}" out="${2:?FOLDER for the outputs}"
shift 2
bin="$PWD/build/ci/bin" only='*' list='' patience=3
while [ $# -gt 0 ]; do
  case "$1" in
    --bin) bin="$(realpath "${2:?}")"; shift 2 ;;
    --only) only="${2:?}"; shift 2 ;;
    --patience) patience="${2:?}"; shift 2 ;;
    --list) list=1; shift ;;
    *) echo "record_results.sh: unknown option $1; allowed: --bin, --only, --patience, --list" >&2; exit 2 ;;
  esac
done
export PATH="$bin:$PATH"
python3 -c 'import evo_tune' 2>/dev/null || export PYTHONPATH="$PWD/tools/python${PYTHONPATH:+:$PYTHONPATH}"
export work="build/results" device bin recorded="${EVO_RECORDED:-build/recorded}"
[ -n "$list" ] || mkdir -p "$out" "$work"
cuda="$(evo-tune doctor --json 2>/dev/null | sed -n 's/.*"version": "nvrtc \(.*\)",/\1/p')"
gpu="$(nvidia-smi --id="${device#cuda:}" --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null |
  sed 's/, /, driver /')"
machine="${gpu:+$gpu, }$(nproc) cores of an $(sed -n 's/^model name\t: //p' /proc/cpuinfo | head -n 1)"
status=0

# step NAME SECONDS COMMAND: runs COMMAND and stores its output as NAME.txt.
step() {
  # shellcheck disable=SC2254 # $only is a pattern
  case "$1" in $only) ;; *) return ;; esac
  [ -z "$list" ] || { printf '%-28s %5s s  %s\n' "$@"; return; }
  local begin=$SECONDS code=0
  timeout $(($2 * patience + 10)) bash -o pipefail -c "$3" </dev/null >"$work/$1.out" 2>"$work/$1.err" || code=$?
  echo "$1: $((SECONDS - begin)) s, exit code $code" >&2
  if [ "$code" -ne 0 ]; then
    tail -n 3 "$work/$1.err" "$work/$1.out" >&2
    status=1
    return
  fi
  { printf '# date: %s\n# machine: %s, CUDA %s\n# command: %s\n\n' "$(date -u +%F)" "$machine" "$cuda" "$3"
    cat "$work/$1.out"; } >"$out/$1.txt"
}

attention=search_spaces/sdpa_fp8
busy='ab_comparisons --space tests/planted/search_spaces/busy.json --device $device'
steps="sed '/^importance/,/^valid negatives/{/^valid negatives/!d}'"  # deletes lines about macros
speed="sed -n '/\"event\":\"speed\"/p'"

# The searches for attention kernels, one a line: name, space, shapes.
# A search compiles each candidate once and times it on all shapes of the search.
# If the softmax P is in e4m3, each shape has its own search, because errors depend on the shape.
# If P is in e4m3, the fastest kernels for 2,048 keys are too inaccurate for 8,192 keys.
export searches='e4m3_long_d128 wgmma_e4m3 long_d128
e4m3_longer_d128 wgmma_e4m3 longer_d128
e4m3_mission_d128 wgmma_e4m3 mission_d128
e4m3_long wgmma_e4m3 long
e4m3_longer wgmma_e4m3 longer
e4m3_mission wgmma_e4m3 mission
e4m3_causal wgmma_e4m3 causal_long
e4m3_causal_d128 wgmma_e4m3 causal_long_d128
wgmma_d64 wgmma mission,long,longer,s128
wgmma_d128 wgmma long_d128,longer_d128,mission_d128
wgmma_causal wgmma causal_long
wgmma_causal_d128 wgmma causal_long_d128
mma_small mma small'

on_a_gpu() {
  [ "$only" != '*' ] || rm -f "$work"/*.db
  local name space shape shapes run template
  while read -r name space shapes; do
    step "search.$name" 30 "evo-tune --device \$device --space ${attention}_${space}_h200.json --shape $shapes --max-seconds 28 --no-warm-start --interpret none --explain none --db \$work/$name.db --json | $speed"
  done <<<"$searches"
  step attention 130 'rm -rf $work/attention.json $work/bundle.*; while read -r name _ shapes; do for shape in ${shapes//,/ }; do evo-export --db $work/$name.db --shape $shape --bundle $work/bundle.$name.$shape --loss-percent 0; done; done <<<"$searches" >&2; python3 tools/bench/compare_pytorch.py $work/bundle.* --json $work/attention.json --max-seconds 120 >&2 && cat $work/attention.json'
  step accuracy 50 'python3 tools/bench/attention_accuracy.py $work/bundle.{e4m3,wgmma}_* --max-seconds 45'
  while read -r name space shapes; do
    step "elite.$name" 1 "evo-elite --db \$work/$name.db --csv"
  done <<<"$searches"
  for run in "e4m3_long_d128 long_d128" "e4m3_long long" "e4m3_causal causal_long" "wgmma_d64 mission" "wgmma_d64 long"; do
    step "ideas.${run/ /_}" 1 "evo-elite milestones --db \$work/${run% *}.db --shape ${run#* }"
  done
  for space in wgmma_e4m3 wgmma; do
    for shape in mission mission_d128 causal_mission causal_mission_d128; do
      step "verdicts.${space}_$shape" 16 "evo-tune --device \$device --space ${attention}_${space}_h200.json --shape $shape --strategy random --seed 7 --generations 18 --max-seconds 20 --no-warm-start --interpret none --explain none --db \$work/verdicts.${space}_$shape.db --quiet >&2; evo-elite rejections --db \$work/verdicts.${space}_$shape.db"
    done
  done
  for run in "e4m3_long wgmma_e4m3 long e4m3_long" "wgmma_mission wgmma mission wgmma_d64"; do
    read -r name space shape search <<<"$run"
    step "seeds.$name" 100 "python3 tools/bench/compare_seeds.py --device \$device --space ${attention}_${space}_h200.json --shape $shape --folder \$work/seeds.$name \$([ ! -f \$work/$search.db ] || echo --also \$work/$search.db)"
  done
  step bundle 50 'python3 docs/examples/use_bundle.py $work/bundle.wgmma_d64.mission'
  step call 60 'python3 tools/bench/launch_cost.py'
  step milestones 14 "evo-tune --device \$device --space ${attention}_wmma_h200.json --db \$work/wmma.db --quiet >&2; evo-elite milestones --db \$work/wmma.db"
  step insight 1 "evo-elite insight --db \$work/wmma.db | $steps"
  for template in mma wmma wgmma; do
    step "random.$template" 10 "evo-tune --device \$device --space ${attention}_${template}_h200.json --strategy random --seed 7 --generations 80 --max-seconds 8 --db \$work/random.db --json | $speed"
  done
  step comparison.same 6 "$busy --first WORK=2000 --count 50"
  step comparison.slower 6 "$busy --first WORK=2000 --second WORK=2040 --count 50"
  step comparison.same_attention 8 "ab_comparisons --device \$device --space ${attention}_mma_h200.json --count 50"
  step operations.measured 30 'op-costs --device $device'
  step operations.predicted 40 'op-costs --device virtual:h200'
  step energy.wgmma_defaults 6 "evo-judge --device \$device --space ${attention}_wgmma_h200.json --energy | sed -n '/^\(time\|energy\) /p'"
  step energy.row_softmax 6 'evo-judge --device $device --space search_spaces/row_softmax_h200.json --energy | sed -n "/^\(time\|energy\) /p"'
  step checks 8 'check-speed --device $device --elements 1048576 --elements 16777216 --row 4096'
  for run in stencil matmul nbody:quarter nbody; do
    space="${run%:*}" shape=""
    [ "$run" = "$space" ] || shape=" --shape ${run#*:}"
    step "random.${run/:/_}" 16 "evo-tune --device \$device --space tools/bench/real_kernels/search_spaces/$space.json$shape --strategy random --seed 7 --generations 1000 --max-seconds 14 --db \$work/plain.db --json | $speed"
  done
  step rate.kernel-tuner 50 'python3 tools/bench/compare_kernel_tuner.py --count 400 --seconds 8 stencil matmul nbody:quarter nbody'
}

without_a_gpu() {
  step interpreter 3 'virtual-speed'
  for milestone in "mma_l4:lazy rescale" "mma_l4:fp8 both" "wmma_l4:stage 4" "wmma_l4:wmma both" "wgmma_h200:producer"; do
    local space="${milestone%:*}"
    step "launch.${milestone//[: ]/_}" 3 "virtual-launch ${attention}_$space.json '${milestone#*:}' --device virtual:${space#*_}"
  done
  step alarms 60 'count-alarms --candidates 25'
  for strategy in full free insight random genetic annealing differential local; do
    step "strategy.$strategy" 600 "evo-replay --recorded \$recorded/*.json.gz --strategy $strategy --repeats 100 --max-in-flight 16 --no-cutoff --jobs 2"
  done
  for most in 1 64; do
    step "in_flight.$most" 600 "evo-replay --recorded \$recorded/*.json.gz --repeats 30 --max-in-flight $most --no-cutoff --jobs 2"
  done
  step engine 40 'tools/bench/judge_rate.sh "$(dirname $bin)"'
  step kills 120 'EVO_BIN=$bin tools/bench/kill_test.sh 20'
  step soak 120 'EVO_BIN=$bin tools/bench/soak.sh 1000'
  step hosts 60 'cluster-scaling'
  step loopback 10 'worker-cost; worker-cost --image-kb 1 --candidates 5000'
  step call 30 'python3 tools/bench/launch_cost.py --driver $bin/../tests/tools/libfake_driver.so'
}

from_recordings() {
  step predict.h100_mma_mission 60 'evo-predict rank search_spaces/sdpa_fp8_mma_h200.json tests/recorded/h100/mma_mission.json.gz --count 60'
  predict mma_mission "${attention}_mma_h200" mission
  predict mma_long "${attention}_mma_h200" long
  predict mma_small "${attention}_mma_h200" small
  predict wgmma_mission "${attention}_wgmma_h200" mission
  predict wmma_mission "${attention}_wmma_h200" mission
  predict row_softmax search_spaces/row_softmax_h200 mission
  predict stencil tools/bench/real_kernels/search_spaces/stencil mission
  predict matmul tools/bench/real_kernels/search_spaces/matmul mission
  step agreement 60 'record-agreement --check tests/agreement/recorded/h200.gz'
  step agreement.wgmma 30 'record-agreement --check tests/agreement/recorded/h200_wgmma.gz'
  step milestones 1 'gunzip -c tests/recorded/report/h200.db.gz >$work/h200.db; for answer in runs milestones; do evo-elite $answer --db $work/h200.db; done'
  step insight 1 "gunzip -c tests/recorded/report/h200.db.gz >\$work/h200.db; evo-elite insight --db \$work/h200.db | $steps"
}

predict() { # RECORDING SPACE SHAPE
  step "predict.h200_$1" 60 "evo-predict rank $2.json tests/recorded/h200/$1.json.gz --shape $3 --count 60"
}

case "$device" in
  none) without_a_gpu ;;
  recorded) from_recordings ;;
  *) on_a_gpu ;;
esac
exit "$status"
