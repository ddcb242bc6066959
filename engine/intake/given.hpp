#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/intake/draft.hpp"

namespace evo {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The launch options of a kernel. Grid and block: up to three expressions, separated by commas.
struct GivenLaunch {
  std::string grid;
  std::string block;
  std::string shared_bytes;
};

/// The user's options about the problem. The member of an option that was not given is empty.
struct Given {
  NamedTexts sizes;    ///< shape variable → its values, the timed shape's first
  NamedTexts values;   ///< scalar parameter → an expression of sizes and macros
  NamedTexts extents;  ///< pointer parameter → an expression of sizes and macros
  NamedTexts inputs;   ///< pointer parameter → "normal:0:1", "uniform:0:1", "integers:0:9",
                       ///< "constant:1", or a formula
  std::vector<std::string> scratch;     ///< outputs that are not compared
  std::vector<std::string> workspaces;  ///< buffers in which the kernel keeps data between launches
  /// outputs that the user declares as inout, because the kernel leaves some of their elements
  /// unchanged
  std::vector<std::string> inouts;
  /// launches of the kernels in order; may be shorter than the list of kernels
  std::vector<GivenLaunch> launches;
  NamedTexts renamed;  ///< "kernel.parameter" → name of its argument
  std::string flops;
  std::string tolerance;  ///< largest allowed error of an element
  std::string reference;  ///< "default", "program", or a kernel of the file
  std::string reference_grid;
  std::string reference_block;
};

/// The generator that fills an output of type `dtype` before a launch if the kernel leaves some of
/// the output's elements unchanged.
[[nodiscard]] Json start_of_output(const std::string& dtype);

/// The launch options of kernel number `kernel`; empty if none were given.
[[nodiscard]] GivenLaunch launch_of(const Given& given, std::size_t kernel);

/// Sets the draft's shapes from the option --size. Throws InputError for invalid sizes.
void draft_sizes(const Given& given, Draft& draft);

/// Sets the members of arguments from options that name the arguments: scalars from --value or from
/// a size of the same name, extents, workspaces, inouts, generators, scratch outputs. Also sets the
/// tolerance and the number of operations. Throws InputError if an option names an argument that
/// the kernel does not have.
void give_arguments(const Given& given, Draft& draft);

/// Throws InputError for a size of the option --size that no launch, scalar or extent of the draft
/// uses, unless a parameter is a structure.
void require_used_sizes(const Given& given, const Draft& draft);

/// Adds a note for each macro of several values that neither the source, nor a launch, scalar or
/// extent of the draft uses.
void note_unused_macros(Draft& draft);

/// Splits `text`, the value of `option`, into 1 to `most` expressions. Throws InputError if there
/// are more, if one is malformed, or if one uses names other than sizes and macros of the space.
[[nodiscard]] std::vector<std::string> given_expressions(const std::string& option,
                                                         const std::string& text, std::size_t most,
                                                         const Draft& draft);

}  // namespace evo
