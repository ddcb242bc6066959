// Tests that the loader compiles as C++17, alone and together with cuda.h.
#include "tools/loader/evo_tune.hpp"
// Tests that the loader's declarations of the driver's handles match cuda.h.
#include <cuda.h>

void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers);
void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers) {
  bundle.launch(stream, shape, buffers);
}
