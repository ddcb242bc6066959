#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/intake/draft.hpp"

namespace evo {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The launch of a kernel: up to three expressions each, separated by commas; the shared memory in
/// bytes.
struct GivenLaunch {
  std::string grid;
  std::string block;
  std::string shared_bytes;
};

/// The user's options about the problem; members of options not given are empty.
struct Given {
  NamedTexts sizes;    ///< shape variable → its values, that of the timed shape first
  NamedTexts values;   ///< scalar parameter → an expression of sizes and macros
  NamedTexts extents;  ///< pointer parameter → an expression of sizes
  NamedTexts inputs;   ///< pointer parameter → "normal:0:1", "uniform:0:1", "integers:0:9",
                       ///< "constant:1", or a formula
  std::vector<std::string> scratch;  ///< outputs that are not compared
  /// outputs of which the kernel leaves some elements unchanged
  std::vector<std::string> inouts;
  /// one per kernel; missing for a kernel without such an option
  std::vector<GivenLaunch> launches;
  NamedTexts renamed;  ///< "kernel.parameter" → the argument it stands for
  std::string flops;
  std::string tolerance;  ///< largest allowed error of an element
  std::string reference;  ///< "default", "program", or a kernel of the file
  std::string reference_grid;
  std::string reference_block;
};

/// The generator for an output of which a kernel leaves some elements unchanged.
[[nodiscard]] Json start_of_output(const std::string& dtype);

/// The launch options of the kernel with that number.
[[nodiscard]] GivenLaunch launch_of(const Given& given, std::size_t kernel);

/// Fills the shapes with the given sizes. Throws InputError for invalid sizes.
void draft_sizes(const Given& given, Draft& draft);

/// Fills the arguments given by name: scalars by --value or by a size of the same name, extents,
/// generators, scratch outputs. Throws InputError for an unknown name.
void give_arguments(const Given& given, Draft& draft);

/// Throws InputError for a size that nothing uses.
void require_used_sizes(const Given& given, const Draft& draft);

/// The expressions of `text`, the value of `option`; at most `most`. Throws InputError if one uses
/// other names than sizes and macros of the space.
[[nodiscard]] std::vector<std::string> given_expressions(const std::string& option,
                                                         const std::string& text, std::size_t most,
                                                         const Draft& draft);

}  // namespace evo
