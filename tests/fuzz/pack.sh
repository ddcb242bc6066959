#!/usr/bin/env bash
# Usage: tests/fuzz/pack.sh FOLDER
# Copies to FOLDER everything that run.sh needs to fuzz on a machine without a compiler.
# Sanitizers are linked statically, and other shared libraries except the C library are copied.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
here="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1/lib"
folder="$(cd "$1" && pwd)"
cd "$here/../.."
. cmake/setup.sh
install_packages "${packages[@]}" clang-16 libclang-rt-16-dev
toolkit="$(find_toolkit)"
[ -n "$toolkit" ] || toolkit="$(fetch_toolkit)"
cmake --preset fuzz -DEVO_CUDA_ROOT="$toolkit" >/dev/null
targets=(bundle expression frame ptx recording spec)
ninja -C build/fuzz "${targets[@]/#/fuzz_}"
for target in "${targets[@]}"; do
  strip -o "$folder/fuzz_$target" "build/fuzz/fuzz/fuzz_$target"
  ldd "build/fuzz/fuzz/fuzz_$target" | awk '$3 ~ /^\// {print $3}' | grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv)\.so' |
    xargs -r cp -Lu -t "$folder/lib"
done
cp -r "$here/corpus" "$here/dictionary" "$here/run.sh" "$folder"
du -sh "$folder"
