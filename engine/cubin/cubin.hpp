#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// Facts about a kernel, as the compiler recorded them in the cubin. A kernel's source can print
/// false figures into the compiler's log, but cannot change these facts.
struct CubinFacts {
  int registers = 0;  ///< per thread, from the attribute REGCOUNT
  /// per CTA: size of .nv.shared.<entry>, without the KiB that the system reserves from sm_90 on
  int static_shared_bytes = 0;
  int frame_bytes = 0;  ///< stack frame of the entry alone, from the attribute FRAME_SIZE
  int max_threads = 0;  ///< per CTA, from the attribute MAX_THREADS; 0 if not specified
};

/// Parses the cubin's ELF file. Returns nullopt if the file is damaged, lacks the kernel, or has
/// contradictory register counts (in `.nv.info` and in the upper byte of sh_info of the kernel's
/// `.text` section).
[[nodiscard]] std::optional<CubinFacts> read_cubin(std::string_view cubin, std::string_view entry);

/// The sizes in bytes of a kernel's parameters, in order, from its attributes KPARAM_INFO; nullopt
/// if the cubin lacks the kernel or an attribute of a parameter.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view cubin,
                                                                      std::string_view entry);

/// The names of all kernels and functions with a `.text` section.
[[nodiscard]] std::vector<std::string> cubin_functions(std::string_view cubin);

}  // namespace evo
