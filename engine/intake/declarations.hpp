#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// A declared parameter, without qualifiers such as `__restrict__`.
struct DeclaredParameter {
  std::string type;  ///< "const float *"
  std::string name;  ///< empty if unnamed
};

/// A `__global__` function.
struct DeclaredKernel {
  std::string name;  ///< fully qualified: "ns::kernel"
  bool is_template = false;
  std::vector<DeclaredParameter> parameters;
};

/// A `__constant__` variable.
struct DeclaredConstant {
  std::string name;    ///< fully qualified
  std::string type;    ///< type of an element
  std::string extent;  ///< "33*33", or "(2)*(3)" for [2][3]; "1" for a single value
};

struct Declarations {
  std::vector<DeclaredKernel> kernels;  ///< one for each name
  std::vector<DeclaredConstant> constants;
  std::set<std::string> enumerations;  ///< names without namespaces
};

/// Finds the declarations in `source`, including code that #if excludes. The scan looks at words
/// and brackets only, so it does not find declarations made by macros.
[[nodiscard]] Declarations declarations_of(const KernelSource& source);

}  // namespace evo
