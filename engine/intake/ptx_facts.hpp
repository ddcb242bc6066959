#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// What a kernel does with one of its parameters.
struct ParameterUse {
  std::uint64_t bytes = 0;
  bool is_used = false;          ///< some instruction reads the parameter
  bool is_address = false;       ///< converted to an address of global memory
  bool is_loaded = false;        ///< memory it points to is read
  bool is_stored = false;        ///< memory it points to is written
  int texture = 0;               ///< dimensions, where it is a texture object that is read
  bool is_other_object = false;  ///< a surface, or a texture that is not of one or two dimensions
};

/// A `__constant__` variable that a kernel reads.
struct ConstantUse {
  std::string name;  ///< in C++: "ns::filter"
  std::uint64_t bytes = 0;
  bool has_value = false;  ///< in the source
};

/// What the PTX of a kernel says of how it is to be called.
struct PtxFacts {
  std::vector<ParameterUse> parameters;
  std::vector<ConstantUse> constants;
  int block_dimensions = 1;  ///< 1 to 3: of threadIdx or blockDim
  int grid_dimensions = 1;   ///< 1 to 3: of blockIdx or gridDim
  bool has_dynamic_shared = false;
  /// Why CTAs may depend on each other, beside pointers both read and written; empty: they do not.
  std::string dependence;
  /// An atomic operation that adds floating numbers, whose order differs between two runs; empty:
  /// there is none.
  std::string unordered_sum;
};

/// Follows the parameters of `symbol` through registers, local and shared memory and calls, in no
/// order: what may reach an address counts. Throws InputError for PTX that cannot be read.
[[nodiscard]] PtxFacts ptx_facts(std::string_view ptx, const std::string& symbol);

/// What either of two compilations of one kernel says.
[[nodiscard]] PtxFacts joined(PtxFacts facts, const PtxFacts& other);

}  // namespace evo
