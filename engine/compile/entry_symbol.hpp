#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

// A problem names an entry in C++: "softmax", "ns::softmax", "softmax<float, TILE_N>". A device
// needs the symbol, which for a template differs between candidates. The compilation therefore
// records the symbol in a comment on the first line of the PTX. So the symbol accompanies the PTX
// everywhere, and a source cannot forge it. The name of an `extern "C"` kernel is its own symbol,
// so its PTX has no such line. The PTX of several entries has one line for each, with the entry's
// resources.

/// A kernel of a compilation.
struct CompiledEntry {
  std::string symbol;
  Resources resources;
};

/// `ptx` preceded by a line for each of several entries; for one entry the same as
/// with_entry_symbol().
[[nodiscard]] std::string with_entries(std::string ptx, const std::vector<std::string>& entries,
                                       const std::vector<CompiledEntry>& compiled);

/// The compiled entries, in order. `resources`: resources of the whole compilation, which are used
/// for every entry that has no line in the PTX.
[[nodiscard]] std::vector<CompiledEntry> compiled_entries(std::string_view ptx,
                                                          const std::vector<std::string>& entries,
                                                          const Resources& resources);

/// The maximum of each resource. For launch bounds, the smallest stated bound.
[[nodiscard]] Resources largest_of(const std::vector<CompiledEntry>& entries);

/// `ptx` with the kernel's symbol on the first line; unchanged if the symbol is `entry` itself.
[[nodiscard]] std::string with_entry_symbol(std::string ptx, const std::string& entry,
                                            const std::string& symbol);

/// The symbol of the kernel `entry` in a compilation's PTX.
[[nodiscard]] std::string entry_symbol(std::string_view ptx, const std::string& entry);

/// The functions in `symbols` with the name `name` at file scope: the plain symbol, or names
/// mangled by the Itanium C++ ABI ("_Z6matmulPf"; section 5.1.2: an unscoped name is its length
/// followed by its letters).
[[nodiscard]] std::vector<std::string> symbols_named(const std::vector<std::string>& symbols,
                                                     const std::string& name);

/// A line that instantiates the template named by `entry`; empty for an entry without template
/// arguments. Compilers without name expressions need it.
[[nodiscard]] std::string instantiation_of(const std::string& entry);

}  // namespace evo
