#!/usr/bin/env bash
# Installs what is missing, by package name, and configures and builds a preset. Sourced by
# quickstart.sh and test.sh; `setup_and_build PRESET` leaves the programs in build/PRESET/bin.

packages=(g++ cmake ninja-build ccache pkg-config sqlite3 libsqlite3-dev libsqlitecpp-dev libspdlog-dev
  nlohmann-json3-dev libcli11-dev libxxhash-dev libmuparser-dev zlib1g-dev libzstd-dev libgtest-dev libgmock-dev)
nvrtc_packages=(nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-nvtx)  # from PyPI, CUDA 13; need no GPU and no driver

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
fail() { printf '%s\n' "$*" >&2; exit 3; }

install_packages() {
  local missing=() package
  command -v dpkg-query >/dev/null || fail "This script installs Debian packages. On another system install the counterparts of: ${packages[*]}"
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo="sudo"
  say "Installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; } ||
    fail "Could not install packages. Install these yourself and run the script again: ${missing[*]}"
}

# Prints the folder of a CUDA Toolkit with nvrtc.h and libnvrtc, or nothing.
find_toolkit() {
  local root
  for root in "${EVO_CUDA_ROOT:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda; do
    if [ -n "$root" ] && [ -e "$root/include/nvrtc.h" ] && ls "$root"/lib*/libnvrtc.so* >/dev/null 2>&1; then
      echo "$root"
      return
    fi
  done
}

# Unpacks NVRTC and the CUDA headers from PyPI's packages into build/toolkit and prints that folder.
fetch_toolkit() {
  local root="$PWD/build/toolkit" wheel
  if [ ! -e "$root/include/nvrtc.h" ]; then
    say "No CUDA Toolkit here: fetching ${nvrtc_packages[*]} into build/toolkit"
    install_packages python3 python3-pip unzip
    rm -rf "$root" && mkdir -p "$root/wheels"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$root/wheels" \
      'nvidia-cuda-nvrtc==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*' \
      'nvidia-nvtx==13.0.*' >&2 ||
      fail "Could not fetch NVRTC. Install a CUDA Toolkit >= 12.4 (nvrtc and headers suffice) and set CUDA_HOME, or install the PyPI packages ${nvrtc_packages[*]}."
    for wheel in "$root"/wheels/*.whl; do unzip -q -o "$wheel" -d "$root/unpacked"; done
    mkdir -p "$root/include" "$root/lib64"
    find "$root/unpacked" -type d -name include -exec cp -r {}/. "$root/include/" \;
    find "$root/unpacked" -name 'libnvrtc*.so*' -exec cp {} "$root/lib64/" \;
    rm -rf "$root/wheels" "$root/unpacked"
    [ -e "$root/lib64/libnvrtc.so" ] || ln -s "$(basename "$(ls "$root"/lib64/libnvrtc.so.* | head -n 1)")" "$root/lib64/libnvrtc.so"
    [ -e "$root/include/nvrtc.h" ] || fail "The fetched packages hold no nvrtc.h. Install a CUDA Toolkit >= 12.4 and set CUDA_HOME."
  fi
  echo "$root"
}

# setup_and_build PRESET [options of CMake]
setup_and_build() {
  local preset="$1" toolkit
  shift
  install_packages "${packages[@]}"
  toolkit="$(find_toolkit)"
  [ -n "$toolkit" ] || toolkit="$(fetch_toolkit)" || exit $?
  say "Building ($preset) with the CUDA Toolkit in $toolkit"
  cmake --preset "$preset" -DEVO_CUDA_ROOT="$toolkit" "$@" >/dev/null || fail "CMake failed; its output is above."
  cmake --build --preset "$preset" 2>&1 | grep -E ': (fatal )?error: |: warning: |^(ninja|collect2): ' >&2
  [ "${PIPESTATUS[0]}" -eq 0 ] || fail "The build failed; the errors are above."
}
