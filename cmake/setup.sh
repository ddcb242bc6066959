#!/usr/bin/env bash
# Defines functions that install packages and build the programs, for quickstart.sh, test.sh and
# other scripts.
# `setup_and_build PRESET` installs missing Debian packages, and builds the programs into
# build/PRESET/bin.

packages=(g++ cmake ninja-build ccache pkg-config libasio-dev sqlite3 libsqlite3-dev libsqlitecpp-dev libspdlog-dev
  nlohmann-json3-dev libcli11-dev libxxhash-dev libdtl-dev libutfcpp-dev
  zlib1g-dev libzstd-dev libssl-dev libgtest-dev libgmock-dev)

# PyPI's packages with NVRTC and headers, whose installation needs no GPU and no driver.
# A driver cannot load machine code of a newer major version of CUDA.
# Drivers of CUDA 12 get version 12.6, or 12.9 for Blackwell GPUs.
# ptxas of 12.8 and 12.9, unlike 12.6 and 13.0, crashes on fence.proxy.async during wgmma products.
nvrtc_packages_13=('nvidia-cuda-nvrtc==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-nvtx==13.0.*')
nvrtc_packages_12_6=('nvidia-cuda-nvrtc-cu12==12.6.*' 'nvidia-cuda-runtime-cu12==12.6.*' 'nvidia-cuda-nvcc-cu12==12.6.*' 'nvidia-nvtx-cu12==12.6.*')
nvrtc_packages_12_9=('nvidia-cuda-nvrtc-cu12==12.9.*' 'nvidia-cuda-runtime-cu12==12.9.*' 'nvidia-cuda-nvcc-cu12==12.9.*' 'nvidia-nvtx-cu12==12.9.*')

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

# Prints the major version of CUDA that the driver supports, or nothing without a driver.
cuda_of_driver() {
  nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9][0-9]*\)\..*/\1/p' | head -n 1
}

# Prints the major version of the toolkit in folder $1, as cuda.h states it; nothing without cuda.h.
cuda_of_toolkit() {
  sed -n 's/^#define CUDA_VERSION \([0-9]*\)[0-9][0-9][0-9].*/\1/p' "$1/include/cuda.h" 2>/dev/null | head -n 1
}

# Prints the folder of a CUDA Toolkit that has NVRTC and suits the driver, or nothing.
find_toolkit() {
  local root driver toolkit
  driver="$(cuda_of_driver)"
  for root in "${EVO_CUDA_ROOT:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda; do
    if [ -n "$root" ] && [ -e "$root/include/nvrtc.h" ] && ls "$root"/lib*/libnvrtc.so* >/dev/null 2>&1; then
      toolkit="$(cuda_of_toolkit "$root")"
      if [ -n "$driver" ] && [ -n "$toolkit" ] && [ "$toolkit" -gt "$driver" ]; then
        say "Not used: the CUDA Toolkit $toolkit in $root, because this driver supports only CUDA $driver and older"
        continue
      fi
      echo "$root"
      return
    fi
  done
}

# Sets nvrtc_packages to the packages that suit this machine's driver and GPU.
choose_nvrtc_packages() {
  local driver capability
  driver="$(cuda_of_driver)"
  nvrtc_packages=("${nvrtc_packages_13[@]}")
  [ -n "$driver" ] && [ "$driver" -lt 13 ] || return 0
  [ "$driver" -ge 12 ] || fail "The driver supports only CUDA $driver; evo-tune needs CUDA 12 or later: update the driver to 525 or newer."
  capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -n | tail -n 1)"
  nvrtc_packages=("${nvrtc_packages_12_6[@]}")
  [ "${capability%%.*}" -lt 10 ] 2>/dev/null || nvrtc_packages=("${nvrtc_packages_12_9[@]}")
}

# Unpacks NVRTC and the CUDA headers from PyPI's packages into build/toolkit and prints that folder.
fetch_toolkit() {
  local root="$PWD/build/toolkit" wheel
  choose_nvrtc_packages || return
  if [ "$(cat "$root/packages" 2>/dev/null)" != "${nvrtc_packages[*]}" ]; then
    say "No suitable CUDA Toolkit is installed: fetching ${nvrtc_packages[*]} into build/toolkit"
    install_packages python3 python3-pip unzip
    rm -rf "$root" && mkdir -p "$root/wheels"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$root/wheels" \
      "${nvrtc_packages[@]}" >&2 ||
      fail "Could not fetch NVRTC. Install a CUDA Toolkit >= 12.4 (nvrtc and headers suffice) and set CUDA_HOME, or install the PyPI packages ${nvrtc_packages[*]}."
    for wheel in "$root"/wheels/*.whl; do unzip -q -o "$wheel" -d "$root/unpacked"; done
    mkdir -p "$root/include" "$root/lib64"
    find "$root/unpacked" -type d -name include -exec cp -r {}/. "$root/include/" \;
    find "$root/unpacked" -name 'libnvrtc*.so*' -exec cp {} "$root/lib64/" \;
    rm -rf "$root/wheels" "$root/unpacked"
    [ -e "$root/lib64/libnvrtc.so" ] || ln -s "$(basename "$(ls "$root"/lib64/libnvrtc.so.* | head -n 1)")" "$root/lib64/libnvrtc.so"
    [ -e "$root/include/nvrtc.h" ] || fail "The fetched packages do not contain nvrtc.h. Install a CUDA Toolkit >= 12.4 and set CUDA_HOME."
    echo "${nvrtc_packages[*]}" >"$root/packages"
  fi
  echo "$root"
}

# Usage: setup_and_build PRESET [options of CMake]
setup_and_build() {
  local preset="$1" toolkit
  shift
  install_packages "${packages[@]}"
  toolkit="$(find_toolkit)"
  [ -n "$toolkit" ] || toolkit="$(fetch_toolkit)" || exit $?
  say "Building ($preset) with the CUDA Toolkit in $toolkit"
  cmake --preset "$preset" -UEVO_NVRTC_LIBRARY -UEVO_CUDA_INCLUDE_DIR -DEVO_CUDA_ROOT="$toolkit" "$@" >/dev/null || fail "CMake failed; its output is above."
  NINJA_STATUS="${NINJA_STATUS-[%f/%t, %es] }" cmake --build --preset "$preset" >&2 || fail "The build failed; the errors are above."
}
