#pragma once

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

// Arguments of direction "tensor_map".

namespace evo {

/// Reads the tensor map argument `name` of a problem.
[[nodiscard]] Argument parse_tensor_map(const JsonReader& reader, const std::string& name);

/// Finds the buffer of each tensor map. Makes each step without a list of arguments take all
/// arguments except tensor maps. Throws ProblemError if a map's "of" does not name a buffer.
void place_tensor_maps(Problem& problem);

/// The tensor map at `position` in Problem::arguments, evaluated for `kernel`. Throws ProblemError
/// unless check_tensor_map() accepts the map for the kernel's buffer.
[[nodiscard]] TensorMapSpec tensor_map_of(const Problem& problem, const KernelSpec& kernel,
                                          std::size_t position, const Values& values);

/// Checks the tensor maps that `kernel` takes and whose expressions use only names in `values`.
/// Throws the errors of tensor_map_of().
void check_tensor_maps(const Problem& problem, const KernelSpec& kernel, const Values& values);

}  // namespace evo
