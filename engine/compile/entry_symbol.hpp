#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

// The entry that a problem names is C++: "softmax", "ns::softmax", "softmax<float, TILE_N>". What a
// device loads is a symbol, and of a template every candidate has another one. It belongs to the
// compilation, and stands in the first line of the PTX that the compiler hands on, as a comment: so
// it is wherever the PTX is, and a source cannot write it. An `extern "C"` name is its own symbol,
// and its PTX has no such line. The PTX of several entries has a line for each, with what the
// compiler made of it.

/// A kernel of a compilation.
struct CompiledEntry {
  std::string symbol;
  Resources resources;
};

/// `ptx` of several entries with a line for each in front; of one as with_entry_symbol().
[[nodiscard]] std::string with_entries(std::string ptx, const std::vector<std::string>& entries,
                                       const std::vector<CompiledEntry>& compiled);

/// What the entries of a compilation became, in their order. `resources`: of the compilation as a
/// whole, which are those of the only entry, or of all where the PTX has no lines of them.
[[nodiscard]] std::vector<CompiledEntry> compiled_entries(std::string_view ptx,
                                                          const std::vector<std::string>& entries,
                                                          const Resources& resources);

/// The largest of each; of the bounds on threads the smallest that is stated.
[[nodiscard]] Resources largest_of(const std::vector<CompiledEntry>& entries);

/// `ptx` with its kernel's symbol in the first line; unchanged when that is `entry` itself.
[[nodiscard]] std::string with_entry_symbol(std::string ptx, const std::string& entry,
                                            const std::string& symbol);

/// The symbol of the kernel that `entry` means in a compilation's PTX.
[[nodiscard]] std::string entry_symbol(std::string_view ptx, const std::string& entry);

/// Which of `symbols` are functions called `name` at file scope: the symbol itself, or names
/// mangled by the Itanium C++ ABI ("_Z6matmulPf"; 5.1.2: an unscoped name is its length and its
/// letters).
[[nodiscard]] std::vector<std::string> symbols_named(const std::vector<std::string>& symbols,
                                                     const std::string& name);

/// A line that instantiates the template that `entry` names; empty for an entry without template
/// arguments. Compilers that are given no name expression need it.
[[nodiscard]] std::string instantiation_of(const std::string& entry);

}  // namespace evo
