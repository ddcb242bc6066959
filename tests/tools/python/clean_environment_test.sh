#!/usr/bin/env bash
# Tests a wheel in an environment with only Python and pip: clean_environment_test.sh WHEELS FOLDER
# WHEELS: the folder that contains the wheel. FOLDER: a folder that the test creates.
# PATH contains only the environment and system folders, not a CUDA Toolkit or the build folder.
set -eu
wheel="$(realpath "$1"/evo_tune-*.whl)"
notebook="$(realpath "$(dirname "$0")/../../../docs/examples/tune_in_a_notebook.ipynb")"
folder="$2"
rm -rf "$folder"
mkdir -p "$folder/work"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cd "$folder/work"
clean() { env -i HOME="$folder/work" PATH="$folder/venv/bin:/usr/bin:/bin" "$@"; }
version="$(clean python -c 'import evo_tune; print(evo_tune.__version__)')"
clean evo-tune --version | grep -F "evo-tune $version"
nvrtc="$(clean evo-tune doctor --json 2>/dev/null | grep -o '"[^"]*libnvrtc[^"]*"' | head -n 1)"
case "$nvrtc" in
  *"$folder/venv/"*) echo "NVRTC: $nvrtc" ;;
  *) echo "evo-tune finds another NVRTC than that of the environment: $nvrtc"; exit 1 ;;
esac
clean evo-tune --generations 2 --offspring 4 --device virtual:l4 --space row_softmax_l4 --explain none --quiet
clean evo-elite
cat >script.py <<'SCRIPT'
import numpy
from kernel_tuner import tune_kernel
SOURCE = """
#include <cuda_fp16.h>
__global__ void add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) { c[i] = a[i] + b[i]; }
}
"""
a = numpy.random.randn(5000).astype(numpy.float32)
results, env = tune_kernel("add", SOURCE, a.size, [numpy.zeros_like(a), a, 2 * a, numpy.int32(a.size)],
                           {"block_size_x": [64, 128, 256]}, answer=[3 * a, None, None, None])
assert len(results) == 3, env
SCRIPT
clean python -m evo_tune run script.py
clean python -c 'from evo_tune import fast; assert fast.is_there(), fast._why'
# Runs the example notebook, whose output must contain its table and its report.
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ipykernel nbconvert pandas
cp "$notebook" notebook.ipynb
clean jupyter nbconvert --log-level ERROR --to notebook --execute --output executed notebook.ipynb
for shown in '<table' '<iframe'; do
  grep -qF "$shown" executed.ipynb || { echo "the notebook shows no $shown"; exit 1; }
done
echo "the wheel works"
