#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/intake/draft.hpp"
#include "engine/intake/probe_sizes.hpp"

namespace evo {

/// A configuration of the kernel, compiled.
struct ProbeKernel {
  std::map<std::string, double> macros;
  std::string ptx;
  std::vector<std::string> symbols;  ///< of all its steps
};

/// Why measure_extents() cannot run the kernel; empty when it can.
[[nodiscard]] std::string why_not_measured(const Draft& draft);

/// Finds by running the kernel on the virtual GPU, which catches every access beyond a buffer, how
/// many elements each buffer without an extent must have, and how many bytes of dynamic shared
/// memory the kernel needs:
///   1. four sets of small sizes: of each buffer the least count without a fault;
///   2. an expression of the sizes that fits all four (extent_fit.hpp);
///   3. it must hold for other inputs and for larger sizes too, or the count depends on the data
///   and
///      stays a TODO;
///   4. and for the other configurations, or it depends on macros and stays one;
///   5. sizes that are multiples of nothing are tried first, then rounder ones;
///   6. an output of which the kernel leaves elements as they are becomes an inout.
/// `kernels`: the defaults first. Notes say what was found, and by which sizes. Returns the kind of
/// sizes that the kernel is made for.
SizeKind measure_extents(const std::vector<ProbeKernel>& kernels, Draft& draft);

}  // namespace evo
