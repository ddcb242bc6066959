// The loader compiles as C++17, beside the driver's own header and as itself alone.
#include "tools/loader/evo_tune.hpp"
// The loader's own declarations of the driver's handles match the driver's header.
#include <cuda.h>

void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers);
void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers) {
  bundle.launch(stream, shape, buffers);
}
