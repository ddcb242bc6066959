#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// What machine code says of one of its kernels. Nothing a source can print is in it.
struct CubinFacts {
  int registers = 0;            ///< per thread: attribute REGCOUNT
  int static_shared_bytes = 0;  ///< per CTA: size of .nv.shared.<entry>, without what is reserved
  int frame_bytes = 0;          ///< of the entry's own stack frame: attribute FRAME_SIZE
  int max_threads = 0;          ///< per CTA: attribute MAX_THREADS; 0 when not stated
};

/// Reads the cubin's ELF. Nothing when it is damaged, has no such kernel, or states its registers
/// twice and differently (in `.nv.info` and in the upper byte of sh_info of its `.text` section).
[[nodiscard]] std::optional<CubinFacts> read_cubin(std::string_view cubin, std::string_view entry);

/// The sizes in bytes of a kernel's parameters, in their order: its attributes KPARAM_INFO. Nothing
/// when they are not all there.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view cubin,
                                                                      std::string_view entry);

/// The names of all kernels and functions with a `.text` section.
[[nodiscard]] std::vector<std::string> cubin_functions(std::string_view cubin);

}  // namespace evo
