#pragma once

#include "engine/compile/source.hpp"

namespace evo {

/// Makes `source` acceptable to a device-only compiler: replaces host functions at file, namespace
/// and class scope, host variables at file and namespace scope, and `using` and `typedef` of names
/// in kHostsOwn (standard_names.hpp) by white space. The source's line numbers stay the same.
///
/// Host code is code without a CUDA annotation (written directly or by a macro of the source) or
/// with `__host__` alone. Constants (`const`, `constexpr`) and constexpr functions are exceptions:
/// they stay, and a constexpr function without an annotation becomes a device function, because
/// device code may use them if nvcc gets --expt-relaxed-constexpr. Names that nvcc declares without
/// an include (`uint`, `uint32_t`, `FLT_MAX` …) are added if the source uses them.
///
/// The function looks at words and brackets and does not parse C++. The function does not change a
/// file with unbalanced brackets, or a header with statements, enumerators or members that is
/// included inside of a declaration.
[[nodiscard]] KernelSource without_host_code(KernelSource source);

}  // namespace evo
