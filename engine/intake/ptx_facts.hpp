#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The use of one parameter by a kernel.
struct ParameterUse {
  std::uint64_t bytes = 0;
  bool is_used = false;          ///< some instruction reads the parameter
  bool is_address = false;       ///< converted to an address of global memory
  bool is_loaded = false;        ///< memory it points to is read
  bool is_stored = false;        ///< memory it points to is written
  int texture = 0;               ///< its dimensions if it is a texture object that is read
  bool is_other_object = false;  ///< a surface, or a texture with other than one or two dimensions
};

/// A `__constant__` variable that a kernel reads.
struct ConstantUse {
  std::string name;  ///< C++ name: "ns::filter"
  std::uint64_t bytes = 0;
  bool has_value = false;  ///< whether the source gives it a value
};

/// Facts about a kernel's launch, derived from its PTX.
struct PtxFacts {
  std::vector<ParameterUse> parameters;
  std::vector<ConstantUse> constants;
  int block_dimensions = 1;  ///< 1 to 3: dimensions of threadIdx or blockDim
  int grid_dimensions = 1;   ///< 1 to 3: dimensions of blockIdx or gridDim
  bool has_dynamic_shared = false;
  /// Why CTAs may depend on each other, except for pointers both read and written; empty: they do
  /// not.
  std::string dependence;
  /// An atomic operation that adds floating-point numbers, whose order may change between runs;
  /// empty: there is none.
  std::string unordered_sum;
};

/// Follows the parameters of `symbol` through registers, local and shared memory and calls. Ignores
/// the order of instructions: everything that may reach an address counts. Throws InputError for
/// unreadable PTX.
[[nodiscard]] PtxFacts ptx_facts(std::string_view ptx, const std::string& symbol);

/// The union of the facts of two compilations of one kernel.
[[nodiscard]] PtxFacts joined(PtxFacts facts, const PtxFacts& other);

}  // namespace evo
