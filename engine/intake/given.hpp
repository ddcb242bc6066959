#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/intake/draft.hpp"

namespace evo {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// How a kernel is launched: up to three expressions each, with commas between; bytes.
struct GivenLaunch {
  std::string grid;
  std::string block;
  std::string shared_bytes;
};

/// The user's options about the problem; a member is empty where its option was not given.
struct Given {
  NamedTexts sizes;    ///< shape variable, its values: the timed shape's first
  NamedTexts values;   ///< scalar parameter, an expression of sizes and macros
  NamedTexts extents;  ///< pointer parameter, an expression of sizes
  NamedTexts inputs;   ///< pointer parameter, "normal:0:1", "uniform:0:1", "integers:0:9",
                       ///< "constant:1", or a formula
  std::vector<std::string> scratch;   ///< outputs whose content is nobody's result
  std::vector<std::string> inouts;    ///< outputs of which the kernel leaves elements as they are
  std::vector<GivenLaunch> launches;  ///< of each kernel; none for one that has none here
  NamedTexts renamed;                 ///< "kernel.parameter", the argument that it is
  std::string flops;
  std::string tolerance;  ///< largest error of an element
  std::string reference;  ///< "default", "program", or a kernel of the file
  std::string reference_grid;
  std::string reference_block;
};

/// The generator of an output of which a kernel leaves elements as they are.
[[nodiscard]] Json start_of_output(const std::string& dtype);

/// The launch options of the kernel with that number.
[[nodiscard]] GivenLaunch launch_of(const Given& given, std::size_t kernel);

/// Fills the shapes with the given sizes. Throws InputError where they are no sizes.
void draft_sizes(const Given& given, Draft& draft);

/// Fills the arguments that are given by name: scalars by --value or by a size of their name,
/// extents, generators, scratch outputs. Throws InputError for a name that no argument has.
void give_arguments(const Given& given, Draft& draft);

/// Throws InputError for a size that nothing depends on.
void require_used_sizes(const Given& given, const Draft& draft);

/// The expressions of `text`, which `option` gave, at most `most`. Throws InputError for one that
/// names anything else than sizes and macros of the space.
[[nodiscard]] std::vector<std::string> given_expressions(const std::string& option,
                                                         const std::string& text, std::size_t most,
                                                         const Draft& draft);

}  // namespace evo
