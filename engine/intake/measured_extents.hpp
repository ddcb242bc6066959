#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/intake/draft.hpp"
#include "engine/intake/probe_sizes.hpp"

namespace evo {

/// A compiled configuration of the kernel.
struct ProbeKernel {
  std::map<std::string, double> macros;
  std::string ptx;
  std::vector<std::string> symbols;  ///< for all its steps
};

/// Why measure_extents() cannot run the kernel; empty if it can.
[[nodiscard]] std::string why_not_measured(const Draft& draft);

/// Runs the kernel on the virtual GPU, which reports every access outside of a buffer. So it finds
/// the number of elements for each buffer without an extent, and the bytes of dynamic shared
/// memory:
///   1. With four sets of small sizes, find the least count without a fault for each buffer.
///   2. Find an expression of the sizes that fits all four (extent_fit.hpp).
///   3. Test it with other inputs and with larger sizes. If it fails, the count depends on the data
///      and stays a TODO.
///   4. Test it with the other configurations. If it fails, the count depends on macros and stays a
///      TODO.
///   5. Prime sizes are tried first. If the kernel does not support them, multiples of 32 to 128
///      and powers of two follow.
///   6. An output of which the kernel leaves some elements unchanged becomes an inout.
/// `kernels`: the defaults first. Notes describe the findings and the sizes used. Returns the kind
/// of sizes that the kernel supports.
SizeKind measure_extents(const std::vector<ProbeKernel>& kernels, Draft& draft);

}  // namespace evo
