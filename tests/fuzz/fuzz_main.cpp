// The function that libFuzzer calls for each input. The macro EVO_FUZZ_FUNCTION names the function
// of one fuzz target.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  evo::fuzz::EVO_FUZZ_FUNCTION({reinterpret_cast<const char*>(data), size});
  return 0;
}
