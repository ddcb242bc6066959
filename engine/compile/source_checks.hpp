#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Holds a source against the macros that the compiler is given for it. A `#define` or `#undef` of
/// one of them, in the file or in a header, would make the kernel run with another value than its
/// configuration says. Allowed is what the preprocessor never reaches because the macro is defined:
/// the branch of `#ifndef MACRO` or `#if !defined(MACRO)`, the `#else` of `#ifdef MACRO`.
///
/// The same holds for headers: one that only such branches include is not looked at. What cannot be
/// decided from the given macros counts as reached, and so does a header from anywhere in a file
/// that is reached. Comments, literals and continued lines are read as the compiler reads them.
/// Throws InputError naming file, line and macro.
void require_macros_kept(const KernelSource& source, const std::set<std::string>& macros);

/// Which of `macros` stand nowhere in the source or in a header, comments left out: all their
/// values are one kernel. Empty when that cannot be told, because names are made with `##`. What
/// lies in include paths is not read.
[[nodiscard]] std::vector<std::string> macros_never_read(const KernelSource& source,
                                                         const std::vector<std::string>& macros);

}  // namespace evo
