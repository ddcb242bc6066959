#pragma once

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

// Arguments of direction "tensor_map".

namespace evo {

/// Reads the argument `name`.
[[nodiscard]] Argument parse_tensor_map(const JsonReader& reader, const std::string& name);

/// Finds the buffer of each map. Kernels without a list of arguments take all but maps. Throws
/// ProblemError for a map over something else than a buffer.
void place_tensor_maps(Problem& problem);

/// The map at `position` for this kernel. Throws ProblemError unless check_tensor_map() accepts it
/// for the kernel's buffer.
[[nodiscard]] TensorMapSpec tensor_map_of(const Problem& problem, const KernelSpec& kernel,
                                          std::size_t position, const Values& values);

/// The same for every map that the kernel takes and that depends on nothing else than `values`.
void check_tensor_maps(const Problem& problem, const KernelSpec& kernel, const Values& values);

}  // namespace evo
