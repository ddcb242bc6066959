#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/intake/copies.hpp"
#include "engine/intake/declarations.hpp"
#include "engine/intake/draft.hpp"
#include "engine/intake/given.hpp"
#include "engine/intake/t1_file.hpp"
#include "engine/intake/trial.hpp"

namespace evo {

/// The user's description of a CUDA file.
struct IntakeRequest {
  std::filesystem::path kernel;
  std::string entry;                       ///< empty: the T1 file's kernel, else the only kernel
  std::vector<std::string> later_entries;  ///< kernels that run after it
  std::filesystem::path t1;                ///< empty: none
  /// Folders of includes that are not in the kernel's folder.
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< NAME → its values as written
  std::vector<std::string> constraints;
  Given given;
  std::string name;  ///< name of the problem; empty: the name of the file
  std::string arch = "sm_89";
};

/// The findings and the files to write.
struct Intake {
  Draft draft;
  std::vector<DraftFile> files;      ///< generated files; the kernel itself is copied beside them
  Copies copies;                     ///< the kernel and the headers that it includes
  std::vector<std::string> outside;  ///< includes left to the compiler
  SourceMacros macros;
  PtxFacts facts;
};

/// Analyses a CUDA file and drafts the files that evo-tune needs for it:
///   1. find the source's declarations, the macros on which it depends, and its includes;
///   2. take the parameters of the space from the T1 file and the request;
///   3. compile it with their defaults, and with each value that the preprocessor compares;
///   4. derive each argument's direction from the PTX;
///   5. derive the launch from the request, the T1 file or names of macros such as block_size_x;
///   6. run it on the virtual GPU with small sizes to measure how much of each buffer it touches;
///   7. choose the source of the expected outputs.
/// Unknown values become "TODO". Throws InputError if nothing can be drafted.
[[nodiscard]] Intake take_in(const IntakeRequest& request, Compiler& compiler);

// The steps; each is in the file of its name -----------------------------------------------------

/// Fills the draft's parameters, fixed parameters, constraints and compiler options. `launch`: all
/// expressions of the launch, which may also name macros.
void draft_space(const IntakeRequest& request, const T1File& t1, const KernelSource& source,
                 const std::string& launch, Draft& draft);

/// Throws InputError for a --param that neither the code nor another option uses, if a macro of the
/// code has a similar name.
void require_used_parameters(const IntakeRequest& request, const KernelSource& source,
                             const Trial& trial, const SourceMacros& macros);

/// The default configuration of the space's parameters, and others that differ in one value that
/// the preprocessor compares.
struct Configurations {
  MacroTexts defaults;
  std::vector<MacroTexts> variants;
  /// Configurations that differ in one value of any parameter, to find properties that do not
  /// depend on macros.
  std::vector<MacroTexts> others;
};
/// Moves the defaults to the nearest valid configuration, and adds a note.
[[nodiscard]] Configurations settle_defaults(const SourceMacros& macros, Draft& draft);

/// Fills the draft's arguments. `declared`: declarations with the defaults; `constants`: including
/// code that #if excludes, for constants that exist only with other values.
void draft_arguments(const T1File& t1, const Declarations& declared,
                     const std::vector<DeclaredConstant>& constants, const Trial& trial,
                     Draft& draft);

/// Adds a kernel that runs after those of the draft, and merges arguments by name: an argument that
/// an earlier kernel writes and this one reads is a workspace, unless it is the only output. Throws
/// InputError if types differ.
void add_step(const Given& given, const Declarations& declared,
              const std::vector<DeclaredConstant>& constants, const std::string& entry,
              const Trial& trial, Draft& draft);
/// Renames the arguments of the first of several kernels and stores their names.
void begin_steps(const Given& given, Draft& draft);

/// Fills the draft's shape variables. Call it before the arguments, whose extents use them.
void draft_shape(const Given& given, const T1File& t1, const PtxFacts& facts,
                 const SourceMacros& macros, Draft& draft);
/// Fills grid, block and shared memory, starting from `given`.
void draft_launch(const Given& given, const GivenLaunch& launch, const T1File& t1,
                  const PtxFacts& facts, const SourceMacros& macros, Draft& draft);

/// Compiles another kernel of the file with the defaults.
using TrialOf = std::function<Trial(const std::string& entry)>;
/// Fills the source of the expected outputs if it is given; otherwise it is reference.py. Throws
/// InputError if the reference kernel has other parameters.
void draft_reference(const Given& given, const Declarations& declared, const TrialOf& look,
                     Draft& draft);

/// Keeps only the fixed parameters that a constraint names.
void drop_idle_fixed(Draft& draft);

/// Converts `text`, an expression of a T1 file: replaces fixed parameters, `ProblemSize[i]`,
/// `max(NAME)` and `min(NAME)`. Empty if it is no expression or uses other names than shape
/// variables and, with `with_macros`, parameters.
[[nodiscard]] std::string understood(const std::string& text, const Draft& draft, bool with_macros);

}  // namespace evo
