#!/usr/bin/env bash
# Installs missing packages, builds the programs, runs evo-tune, and exports the winner as a .cubin.
# Usage: ./quickstart.sh [options of evo-tune]
set -u
cd "$(dirname "$0")" || exit 1
. cmake/setup.sh

# Options of evo-tune that also matter to this script; the last of repeated options counts.
db="evo.db"
generations=(--generations 20)
previous=""
only_told=0
for option in "$@"; do
  case "$option" in
    --generations | --generations=*) generations=() ;;
    --db=*) db="${option#--db=}" ;;
    -h | --help | --version) only_told=1 ;;
  esac
  [ "$previous" != "--db" ] || db="$option"
  previous="$option"
done

setup_and_build release -DBUILD_TESTING=OFF
say "evo-tune ${generations[*]} --db $db $*"
build/release/bin/evo-tune "${generations[@]}" --db "$db" "$@"
status=$?
[ "$status" -le 1 ] || exit "$status"
[ "$only_told" -eq 0 ] || exit "$status"
results="The results are in $db; no kernel is green"
if [ "$status" -eq 0 ]; then
  say "evo-export --db $db --rank 1 --out out"
  build/release/bin/evo-export --db "$db" --rank 1 --out out || exit
  results="The results are in $db, the winner in out/"
fi
cat >&2 <<TXT

$results. Next steps:
  build/release/bin/evo-elite                       the elite table
  build/release/bin/evo-elite milestones            the milestones, each against the previous one
  build/release/bin/evo-elite rejections            why candidates were rejected
  build/release/bin/evo-report --out report.html    one page that shows why the winner won
  build/release/bin/evo-judge --set LAZY_RESCALE=8  runs one configuration through the gates
TXT
exit "$status"
