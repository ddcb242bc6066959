#!/usr/bin/env bash
# Builds the documentation as a site in build/site, and fails on a broken link.
# Usage: tools/site/build.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. cmake/setup.sh

material="mkdocs-material==9.8.1"  # from PyPI, with pinned versions of its dependencies
packages_of_site="$PWD/build/site-packages"
if [ ! -e "$packages_of_site/.complete" ]; then
  install_packages python3 python3-pip
  rm -rf "$packages_of_site"
  python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --only-binary=:all: --target "$packages_of_site" \
    "$material" 'mkdocs==1.6.1' 'pymdown-extensions==13.1' 'markdown==3.11.3' >&2 ||
    fail "Could not fetch $material from PyPI. Install it yourself and run: mkdocs build --strict"
  touch "$packages_of_site/.complete"
fi
say "Building the site"
NO_MKDOCS_2_WARNING=1 PYTHONPATH="$packages_of_site" python3 -m mkdocs build --strict || exit 1
say "The site is in build/site: open build/site/index.html"
