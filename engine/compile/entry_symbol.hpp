#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

// A problem names an entry in C++: "softmax", "ns::softmax", "softmax<float, TILE_N>". A device
// needs the entry's symbol, which for a template differs between candidates. A compilation records
// the entry's symbol in a comment on the first line of the PTX. Wherever PTX is stored or sent, the
// symbol comes with it, and a kernel's source cannot forge the comment. PTX of a single `extern
// "C"` kernel has no comment with a symbol, because the name of the kernel is its symbol. PTX of
// several entries begins with one comment line for each entry, which gives the symbol and the
// resources.

/// The symbol and the resources of a compiled kernel.
struct CompiledEntry {
  std::string symbol;
  Resources resources;
};

/// Puts a comment line with the symbol and the resources of each entry before `ptx`. For a single
/// entry, the comment contains only the symbol, as with_entry_symbol() writes it.
[[nodiscard]] std::string with_entries(std::string ptx, const std::vector<std::string>& entries,
                                       const std::vector<CompiledEntry>& compiled);

/// The compiled entries, in order, from the comment lines at the beginning of `ptx`. `resources`:
/// resources of the whole compilation, which apply to each entry without a comment line.
[[nodiscard]] std::vector<CompiledEntry> compiled_entries(std::string_view ptx,
                                                          const std::vector<std::string>& entries,
                                                          const Resources& resources);

/// The maximum of each resource over the entries, and the smallest of their launch bounds.
[[nodiscard]] Resources largest_of(const std::vector<CompiledEntry>& entries);

/// Puts the kernel's symbol on the first line of `ptx`. Returns `ptx` unchanged if the symbol is
/// `entry`.
[[nodiscard]] std::string with_entry_symbol(std::string ptx, const std::string& entry,
                                            const std::string& symbol);

/// The symbol of the kernel `entry` in the PTX of a compilation.
[[nodiscard]] std::string entry_symbol(std::string_view ptx, const std::string& entry);

/// The functions in `symbols` that are named `name` at file scope: the symbol `name`, and symbols
/// mangled by the Itanium C++ ABI, such as "_Z6matmulPf" (section 5.1.2: an unscoped name is its
/// length followed by its letters).
[[nodiscard]] std::vector<std::string> symbols_named(const std::vector<std::string>& symbols,
                                                     const std::string& name);

/// A line of code that instantiates the template named by `entry`, for compilers without name
/// expressions, such as nvcc; empty for an entry without template arguments.
[[nodiscard]] std::string instantiation_of(const std::string& entry);

}  // namespace evo
