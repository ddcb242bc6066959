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

/// What somebody says of a CUDA file.
struct IntakeRequest {
  std::filesystem::path kernel;
  std::string entry;                       ///< empty: that of the T1 file, else the only kernel
  std::vector<std::string> later_entries;  ///< kernels that run behind it
  std::filesystem::path t1;                ///< empty: none
  /// Where includes are looked for that are not beside the kernel.
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< NAME, its values as written
  std::vector<std::string> constraints;
  Given given;
  std::string name;  ///< of the problem; empty: that of the file
  std::string arch = "sm_89";
};

/// What was found, and what is to be written.
struct Intake {
  Draft draft;
  std::vector<DraftFile> files;      ///< made here; beside them the kernel itself
  Copies copies;                     ///< the kernel and the headers that it includes
  std::vector<std::string> outside;  ///< includes left to the compiler
  SourceMacros macros;
  PtxFacts facts;
};

/// Looks at a CUDA file and drafts the files that evo-tune needs for it:
///   1. what the source declares, which macros it depends on, what it includes;
///   2. the parameters of the space, from the T1 file and the request;
///   3. compiles it with their defaults, and with each value that the preprocessor compares;
///   4. what the code does with each argument says its direction;
///   5. the launch, from the request, the T1 file or names of macros such as block_size_x;
///   6. a run on the virtual GPU with small sizes says how much of each buffer it touches;
///   7. where what is expected comes from.
/// What is not known is a "TODO". Throws InputError where nothing can be drafted.
[[nodiscard]] Intake take_in(const IntakeRequest& request, Compiler& compiler);

// The steps, see the files of their names ---------------------------------------------------------

/// Fills the draft's parameters, what is fixed, constraints and compiler options.
/// `launch`: all expressions of the launch, which may name macros too.
void draft_space(const IntakeRequest& request, const T1File& t1, const KernelSource& source,
                 const std::string& launch, Draft& draft);

/// Throws InputError for a --param that neither the code nor another option uses, where a macro of
/// the code has nearly this name.
void require_used_parameters(const IntakeRequest& request, const KernelSource& source,
                             const Trial& trial, const SourceMacros& macros);

/// The configuration that the space's parameters have by default, and others that differ in one
/// value that the preprocessor compares.
struct Configurations {
  MacroTexts defaults;
  std::vector<MacroTexts> variants;
  /// That differ in one value of any parameter, to see what does not depend on macros.
  std::vector<MacroTexts> others;
};
/// Moves the defaults to the nearest valid configuration, and says so.
[[nodiscard]] Configurations settle_defaults(const SourceMacros& macros, Draft& draft);

/// Fills the draft's arguments. `declared`: with the defaults; `constants`: whatever #if leaves out
/// included, for those that only other values have.
void draft_arguments(const T1File& t1, const Declarations& declared,
                     const std::vector<DeclaredConstant>& constants, const Trial& trial,
                     Draft& draft);

/// Adds a kernel that runs behind those of the draft, its arguments merged by name: one that an
/// earlier kernel writes and this one reads is a workspace, unless it is the only output. Throws
/// InputError where a name has another type.
void add_step(const Given& given, const Declarations& declared,
              const std::vector<DeclaredConstant>& constants, const std::string& entry,
              const Trial& trial, Draft& draft);
/// Renames the arguments of the first of several kernels and notes their names.
void begin_steps(const Given& given, Draft& draft);

/// Fills the draft's shape variables: before the arguments, whose extents name them.
void draft_shape(const Given& given, const T1File& t1, const PtxFacts& facts,
                 const SourceMacros& macros, Draft& draft);
/// Fills grid, block and shared memory, of which `given` says some.
void draft_launch(const Given& given, const GivenLaunch& launch, const T1File& t1,
                  const PtxFacts& facts, const SourceMacros& macros, Draft& draft);

/// Compiles another kernel of the file with the defaults.
using TrialOf = std::function<Trial(const std::string& entry)>;
/// Fills where what is expected comes from, when something is given; else it is reference.py.
/// Throws InputError for a kernel whose parameters are others.
void draft_reference(const Given& given, const Declarations& declared, const TrialOf& look,
                     Draft& draft);

/// Keeps of what is fixed only what a constraint names.
void drop_idle_fixed(Draft& draft);

/// `text`, an expression of a T1 file, with what is fixed and `ProblemSize[i]`, `max(NAME)` and
/// `min(NAME)` of parameters in their place. Empty when it is no expression or names anything else
/// than shape variables and, with `with_macros`, parameters.
[[nodiscard]] std::string understood(const std::string& text, const Draft& draft, bool with_macros);

}  // namespace evo
