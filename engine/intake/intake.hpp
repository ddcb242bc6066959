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

/// The path of a CUDA file, and the options that the user gives for the file.
struct IntakeRequest {
  std::filesystem::path kernel;
  std::string entry;                       ///< empty: the T1 file's kernel, else the only kernel
  std::vector<std::string> later_entries;  ///< kernels that run after `entry`
  std::filesystem::path t1;                ///< path of the T1 file; empty: no T1 file
  /// Folders of included files outside of the kernel's folder.
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< macro → values, as written
  std::vector<std::string> constraints;
  Given given;
  std::string name;  ///< name of the problem; empty: derived from the name of the file
  std::string arch = "sm_89";
};

/// The result of analysing a CUDA file: the draft, and the files to write.
struct Intake {
  Draft draft;
  std::vector<DraftFile> files;      ///< generated files
  Copies copies;                     ///< the kernel and the headers that it includes
  std::vector<std::string> outside;  ///< included files that are not copied
  SourceMacros macros;               ///< `open`: without the macros that the space defines
  PtxFacts facts;
};

/// Analyses a CUDA file and drafts the files that evo-tune needs for it:
///   1. find the source's declarations, the macros on which it depends, and its includes;
///   2. take the parameters of the space from the T1 file and the request;
///   3. compile the kernel with the default values, and with up to eight other values that #if
///      compares;
///   4. derive each argument's direction from the PTX;
///   5. derive the launch from the request, the T1 file or macro names such as block_size_x;
///   6. run the kernel on the virtual GPU with small sizes to measure the extent of each buffer;
///   7. choose the source of the expected outputs.
/// Unknown values become "TODO". Throws InputError for an invalid request, and if the kernel does
/// not compile.
[[nodiscard]] Intake take_in(const IntakeRequest& request, Compiler& compiler);

// The steps of take_in(), defined in draft_*.cpp and given.cpp ------------------------------------

/// Fills the draft's macros, parameters outside of the space (Draft::fixed), constraints and
/// compiler options. `launch`: all expressions of the launch, because some macros appear in no
/// other place.
void draft_space(const IntakeRequest& request, const T1File& t1, const KernelSource& source,
                 const std::string& launch, Draft& draft);

/// Throws InputError for a --param that neither the code nor another option uses, if the code has a
/// macro with a similar name.
void require_used_parameters(const IntakeRequest& request, const KernelSource& source,
                             const Trial& trial, const SourceMacros& macros);

/// The configurations with which the kernel is compiled: the defaults, and up to eight variants in
/// which one parameter has another value that #if compares.
struct Configurations {
  MacroTexts defaults;
  std::vector<MacroTexts> variants;
  /// At most eight configurations that differ from the defaults in the value of one macro, for
  /// testing whether a property of the kernel depends on macros.
  std::vector<MacroTexts> others;
};
/// Replaces defaults that violate a constraint by the nearest valid configuration, and notes each
/// changed default in Draft::left_out. Returns the configurations to compile.
[[nodiscard]] Configurations settle_defaults(const SourceMacros& macros, Draft& draft);

/// Fills the draft's arguments. `declared`: the declarations that exist with the default values of
/// macros. `constants`: the `__constant__` variables, including those that #if excludes with the
/// default values.
void draft_arguments(const T1File& t1, const Declarations& declared,
                     const std::vector<DeclaredConstant>& constants, const Trial& trial,
                     Draft& draft);

/// Adds a kernel that runs after those of the draft, and merges arguments by name. An argument that
/// an earlier kernel writes and the new kernel reads becomes a workspace, unless it is the only
/// output. Throws InputError if the types of arguments with the same name differ.
void add_step(const Given& given, const Declarations& declared,
              const std::vector<DeclaredConstant>& constants, const std::string& entry,
              const Trial& trial, Draft& draft);
/// Renames the arguments of the first of several kernels as --rename says, and stores which
/// arguments this kernel takes.
void begin_steps(const Given& given, Draft& draft);

/// Fills the draft's shape variables. Call this function before draft_arguments(), because extents
/// use the variables.
void draft_shape(const Given& given, const T1File& t1, const PtxFacts& facts,
                 const SourceMacros& macros, Draft& draft);
/// Fills the draft's grid, block and shared memory. `launch`: the user's options, which take
/// precedence.
void draft_launch(const Given& given, const GivenLaunch& launch, const T1File& t1,
                  const PtxFacts& facts, const SourceMacros& macros, Draft& draft);

/// Compiles another kernel of the file with the default values of the macros.
using TrialOf = std::function<Trial(const std::string& entry)>;
/// Fills the source of the expected outputs from `given`. Without --reference, the source is the
/// default configuration if --size was given and the space has macros, all with values; else it is
/// reference.py. Throws InputError if a reference kernel has other parameters than the tuned
/// kernel.
void draft_reference(const Given& given, const Declarations& declared, const TrialOf& look,
                     Draft& draft);

/// Removes from Draft::fixed the parameters of the T1 file that no constraint uses.
void drop_idle_fixed(Draft& draft);

/// Converts `text`, an expression of a T1 file: replaces the parameters in Draft::fixed,
/// `ProblemSize[i]`, `max(NAME)` and `min(NAME)` by their values. Returns an empty text if the
/// result is not an expression, or uses names other than shape variables and, if `with_macros` is
/// true, macros of the space.
[[nodiscard]] std::string understood(const std::string& text, const Draft& draft, bool with_macros);

}  // namespace evo
