#pragma once

#include "engine/compile/source.hpp"

namespace evo {

/// `source` as a compiler for the device alone can take it: blanks in place of the functions and
/// variables of the host at file scope, in namespaces and in classes, every line where it was.
///
/// Of the host is what carries none of CUDA's annotations, directly or by a macro of the source,
/// and what is `__host__` alone; a constexpr function becomes one of the device as well, as nvcc
/// lets device code use it. Such code is always an error for NVRTC, so nothing that it takes is
/// changed. What nvcc makes known without an include (`uint`, `uint32_t`, `FLT_MAX` …) is added
/// where the source uses it. Reads words and brackets, not C++: a text whose brackets do not match
/// is left as it is, and so is a header that is included inside of a declaration, where it stands
/// for a part of it: statements, enumerators, members.
[[nodiscard]] KernelSource without_host_code(KernelSource source);

}  // namespace evo
