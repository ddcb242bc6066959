#!/usr/bin/env bash
# From a fresh clone to an elite: installs what is missing, builds, runs evo-tune with its defaults.
# Usage: ./quickstart.sh [options of evo-tune]
set -u
cd "$(dirname "$0")" || exit 1
. cmake/setup.sh

setup_and_build release
db="evo.db"
say "evo-tune --generations 20 --db $db $*"
build/release/bin/evo-tune --generations 20 --db "$db" "$@"
status=$?
[ "$status" -le 1 ] || exit "$status"
cat >&2 <<TXT

The results are in $db. What next:
  build/release/bin/evo-elite                       the elite table
  build/release/bin/evo-elite ladder                the milestones, each against the one before
  build/release/bin/evo-elite rejections            why the others lost
  build/release/bin/evo-export --rank 1 --out out   the winner as .cubin, with manifest, PTX and source
TXT
exit "$status"
