#!/usr/bin/env bash
# Builds the documentation as a web site in build/site, and fails if a link is broken.
# The pages of options are made from the --help of the built programs.
# Usage: tools/site/build.sh [FOLDER OF THE PROGRAMS]
set -u
cd "$(dirname "$0")/../.." || exit 1
. cmake/setup.sh

programs="${1:-}"
for built in build/ci/bin build/release/bin build/dev/bin; do
  [ -n "$programs" ] || [ ! -x "$built/evo-tune" ] || programs="$PWD/$built"
done
[ -n "$programs" ] || fail "No built programs. Run first: cmake --preset release && ninja -C build/release"

material="mkdocs-material==9.8.1"  # from PyPI, which also has the packages that it needs
packages_of_site="$PWD/build/site-packages"
if [ ! -e "$packages_of_site/.complete" ]; then
  install_packages python3 python3-pip
  rm -rf "$packages_of_site"
  python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --only-binary=:all: --target "$packages_of_site" \
    "$material" 'mkdocs==1.6.1' 'pymdown-extensions==13.1' 'markdown==3.11.3' >&2 ||
    fail "Could not fetch $material from PyPI. Install it yourself and run: EVO_PROGRAMS=$programs mkdocs build --strict"
  touch "$packages_of_site/.complete"
fi
say "Building the site"
NO_MKDOCS_2_WARNING=1 EVO_PROGRAMS="$programs" PYTHONPATH="$packages_of_site" python3 -m mkdocs build --strict || exit 1
say "The site is in build/site: open build/site/index.html"
