// The loader compiles as C++17, alone and together with the driver's header.
#include "tools/loader/evo_tune.hpp"
// The loader's own declarations of the driver's handles match the driver's header.
#include <cuda.h>

void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers);
void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers) {
  bundle.launch(stream, shape, buffers);
}
