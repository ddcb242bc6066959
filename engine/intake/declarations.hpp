#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// A parameter as the source declares it, `__restrict__` and the like left out.
struct DeclaredParameter {
  std::string type;  ///< "const float *"
  std::string name;  ///< empty when it has none
};

/// A `__global__` function.
struct DeclaredKernel {
  std::string name;  ///< from file scope: "ns::kernel"
  bool is_template = false;
  std::vector<DeclaredParameter> parameters;
};

/// A `__constant__` variable.
struct DeclaredConstant {
  std::string name;    ///< from file scope
  std::string type;    ///< of an element
  std::string extent;  ///< "33*33", "(2)*(3)" of [2][3]; "1" of a single value
};

struct Declarations {
  std::vector<DeclaredKernel> kernels;  ///< each name once
  std::vector<DeclaredConstant> constants;
  std::set<std::string> enumerations;  ///< without namespaces
};

/// What the texts of `source` declare, whatever #if leaves out included. Reads words and brackets,
/// not C++: what macros make is not found.
[[nodiscard]] Declarations declarations_of(const KernelSource& source);

}  // namespace evo
