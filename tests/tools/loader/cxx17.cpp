// Tests that the loader's header compiles as C++17 without cuda.h.
#include "tools/loader/evo_tune.hpp"
// Tests that the loader's declarations of driver types do not conflict with those in cuda.h.
#include <cuda.h>

void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers);
void launch_on(const evo_tune::Bundle& bundle, CUstream stream, const std::vector<double>& shape,
               void* const* buffers) {
  bundle.launch(stream, shape, buffers);
}
