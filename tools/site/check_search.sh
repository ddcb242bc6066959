#!/usr/bin/env bash
# Opens the built site from the disk in Chromium and tries the site's search.
# Does nothing if Chromium is missing.
# Usage: tools/site/check_search.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. cmake/setup.sh

command -v chromium >/dev/null || { say "Without Chromium: the site's search is not tried."; exit 0; }
for page in index.html options/evo-tune.html; do
  found="$(timeout 120 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --dump-dom \
    "file://$PWD/build/site/$page?q=occupancy" 2>/dev/null | grep -oE '[0-9]+ matching documents')"
  [ -n "$found" ] || { echo "build/site/$page: the search finds nothing when the page is opened from the disk" >&2; exit 1; }
done
