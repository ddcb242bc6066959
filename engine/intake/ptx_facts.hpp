#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// How a kernel uses one of its parameters.
struct ParameterUse {
  std::uint64_t bytes = 0;
  bool is_used = false;     ///< at least one instruction reads the parameter
  bool is_address = false;  ///< cvta converts the parameter to an address of global memory
  bool is_loaded = false;   ///< the kernel reads memory to which the parameter points
  bool is_stored = false;   ///< the kernel writes memory to which the parameter points
  int texture = 0;          ///< number of dimensions of a texture object, else 0
  /// a surface, or a texture that has other than one or two dimensions or is read by tld4
  bool is_other_object = false;
};

/// A `__constant__` variable that a kernel reads.
struct ConstantUse {
  std::string name;  ///< C++ name: "ns::filter"
  std::uint64_t bytes = 0;
  bool has_value = false;  ///< the source initialises it
};

/// Facts about a kernel, derived from its PTX.
struct PtxFacts {
  std::vector<ParameterUse> parameters;
  std::vector<ConstantUse> constants;
  int block_dimensions = 1;  ///< 1 to 3: number of used dimensions of threadIdx or blockDim
  int grid_dimensions = 1;   ///< 1 to 3: number of used dimensions of blockIdx or gridDim
  bool has_dynamic_shared = false;
  /// The reason why CTAs may depend on each other, empty if none is known; memory that a kernel
  /// both reads and writes is reported by `parameters` instead.
  std::string dependence;
  /// The spelling of an atomic instruction that adds floating-point numbers, so that the order of
  /// additions may differ between runs; empty if the kernel has none.
  std::string unordered_sum;
};

/// Derives the facts of the kernel `symbol`. Follows the kernel's parameters through registers,
/// local and shared memory and calls. Ignores the order of instructions: an address counts as
/// derived from each parameter that may reach it in any order. Throws InputError for PTX that
/// cannot be parsed or has no such kernel.
[[nodiscard]] PtxFacts ptx_facts(std::string_view ptx, const std::string& symbol);

/// Combines the facts of two compilations of one kernel.
[[nodiscard]] PtxFacts joined(PtxFacts facts, const PtxFacts& other);

}  // namespace evo
