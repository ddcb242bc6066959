#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/intake/draft.hpp"
#include "engine/intake/probe_sizes.hpp"

namespace evo {

/// The PTX of one configuration of the kernel.
struct ProbeKernel {
  std::map<std::string, double> macros;
  std::string ptx;
  std::vector<std::string> symbols;  ///< symbols of the kernels of all steps
};

/// Lists the values that are still missing for running the kernel, as text; empty if none is
/// missing.
[[nodiscard]] std::string why_not_measured(const Draft& draft);

/// Runs the kernel on the virtual GPU, which reports every access outside of a buffer, to find the
/// number of elements of each buffer without an extent, and the bytes of dynamic shared memory:
///   1. with four sets of small sizes, find the smallest size of each buffer that causes no fault;
///   2. find an expression of the sizes that gives all four results (extent_fit.hpp);
///   3. test the expression with other inputs and larger sizes: if this test fails, the extent
///      depends on the data and stays a TODO;
///   4. test the expression with other configurations: if this test fails, the extent depends on
///      macros and stays a TODO;
///   5. if extents remain unknown, for example because the kernel does not support the prime sizes
///      of step 1, repeat with multiples of 32 to 128, then with powers of two;
///   6. turn an output in which the kernel leaves some elements unchanged into an inout.
/// `kernels`: configurations, the defaults first. Adds notes about the results to the draft.
/// Returns the kind of sizes that the kernel supports.
SizeKind measure_extents(const std::vector<ProbeKernel>& kernels, Draft& draft);

}  // namespace evo
