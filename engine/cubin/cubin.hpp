#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The machine code's own data about one of its kernels. A source cannot forge them.
struct CubinFacts {
  int registers = 0;            ///< per thread: attribute REGCOUNT
  int static_shared_bytes = 0;  ///< per CTA: size of .nv.shared.<entry>, without the reserved part
  int frame_bytes = 0;          ///< the entry's own stack frame: attribute FRAME_SIZE
  int max_threads = 0;          ///< per CTA: attribute MAX_THREADS; 0 if not specified
};

/// Parses the cubin's ELF. Nullopt if it is damaged, lacks the kernel, or has contradictory
/// register counts (in `.nv.info` and in the upper byte of sh_info of its `.text` section).
[[nodiscard]] std::optional<CubinFacts> read_cubin(std::string_view cubin, std::string_view entry);

/// The sizes in bytes of a kernel's parameters, in order: its attributes KPARAM_INFO. Nullopt if
/// some are missing.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view cubin,
                                                                      std::string_view entry);

/// The names of all kernels and functions with a `.text` section.
[[nodiscard]] std::vector<std::string> cubin_functions(std::string_view cubin);

}  // namespace evo
