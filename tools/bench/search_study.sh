#!/bin/sh
# Compares search strategies, and settings of the strategy `full`, on recorded spaces.
# Usage: search_study.sh BIN OUT RECORDED…
# BIN: the folder of evo-replay and search-ablation (a release build).
# OUT: a folder for the results.
set -eu
bin=$1 out=$2
shift 2
mkdir -p "$out"
jobs=$(nproc)

for strategy in full free insight random genetic annealing differential local; do
  "$bin/evo-replay" --recorded "$@" --strategy "$strategy" --repeats 100 --jobs "$jobs" --no-cutoff \
    > "$out/strategy_$strategy.txt"
done
"$bin/evo-replay" --recorded "$@" --repeats 30 --jobs "$jobs" > "$out/full_to_cutoff.txt"
"$bin/evo-replay" --recorded "$@" --repeats 30 --jobs "$jobs" --no-cutoff --max-in-flight 1 \
  > "$out/full_window1.txt"

ablate() { # NAME SETTING=VALUE…: replays with changed settings
  name=$1
  shift
  sets=
  for knob in "$@"; do sets="$sets --set $knob"; done
  # shellcheck disable=SC2086 # settings contain no spaces
  "$bin/search-ablation" --recorded $recorded $sets --repeats 30 --jobs "$jobs" --no-cutoff --json \
    > "$out/ablation_$name.json"
}
recorded=$*
ablate default
ablate fixed_kernel learns_kernel=0
ablate random_start initial_draws=1
ablate start_of_16 initial=16
ablate elite_of_1 elite=1
ablate no_neighbours pool.neighbours=0
ablate no_mutants pool.mutants=0
ablate no_crossovers pool.crossovers=0
ablate no_randoms pool.randoms=0
ablate no_climbing pool.climbers=0
ablate little_exploring beta_low=0.3 beta_high=1.8
ablate less_exploring beta_low=0.5 beta_high=2.5
ablate no_clip clip=1000
ablate no_failure_model failure.penalty=0 failure.least_penalty=0
ablate short_lengths prior.length=0.5
