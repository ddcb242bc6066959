#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// The text that a drafted file contains in place of an unknown value: "TODO: " followed by `what`.
/// core/placeholder.hpp searches files for such texts.
[[nodiscard]] std::string todo(const std::string& what);
[[nodiscard]] bool is_todo(const std::string& text);

/// Value of Draft::flops if the user did not specify the number of operations.
inline constexpr std::string_view kUnknownFlops = "1";

/// Value of DraftArgument::use for a parameter that no instruction reads.
inline constexpr std::string_view kNeverUsed = "never used";

/// An argument of the drafted problem.
struct DraftArgument {
  enum class Kind { kIn, kOut, kInOut, kScalar, kConstant, kTexture, kTensorMap, kWorkspace };

  std::string name;
  Kind kind = Kind::kIn;
  std::string type;           ///< C++ type
  std::string dtype;          ///< "f32", or a TODO
  int lanes = 1;              ///< number of `dtype` elements in one `type`: 4 for float4
  std::uint64_t bytes = 0;    ///< size of the parameter, or of the whole constant
  std::string use;            ///< text for users, such as "loaded", "stored" or "never used"
  std::string extent;         ///< for buffers and constants: an expression or a TODO
  std::string value;          ///< for a scalar: an expression or a TODO
  Json generator = {};        ///< for inputs; a string is a TODO
  int dimensions = 0;         ///< for a texture: 1 or 2
  std::string given_as = {};  ///< name of the argument in the T1 file
  bool is_compared = true;    ///< for an output: false for scratch memory

  [[nodiscard]] bool is_buffer() const {
    return kind != Kind::kScalar && kind != Kind::kTexture && kind != Kind::kTensorMap;
  }
  [[nodiscard]] bool is_read() const {
    return kind == Kind::kIn || kind == Kind::kInOut || kind == Kind::kConstant ||
           kind == Kind::kTexture;
  }
  [[nodiscard]] bool is_written() const { return kind == Kind::kOut || kind == Kind::kInOut; }
};

/// A macro of the drafted space. If `values` is empty, the space file contains a TODO in place of
/// the values.
struct DraftParameter {
  std::string macro;
  std::vector<Json> values = {};
  Json default_value = {};
  bool is_read = true;  ///< false: only the launch may depend on the macro
};

/// An additional shape, with a value for each of Draft::variables.
struct DraftShape {
  std::string name;
  std::vector<std::string> values;
};

/// The source of the expected outputs in the drafted problem.
struct DraftReference {
  enum class Kind { kProgram, kDefaults, kKernel };

  Kind kind = Kind::kProgram;
  std::string entry = {};  ///< for kKernel: the kernel and its launch
  std::vector<std::string> grid = {};
  std::vector<std::string> block = {};
  std::string dynamic_shared_bytes = {};  ///< empty: none
};

/// A kernel that runs after the first kernel of the draft.
struct DraftStep {
  std::string entry;
  std::vector<std::string> arguments;  ///< the draft's argument names, in the kernel's order
  std::vector<std::string> grid = {};
  std::vector<std::string> block = {};
  std::string dynamic_shared_bytes = {};
};

/// The content of the problem and space files to write.
struct Draft {
  std::string name;         ///< name of the problem, the template and the space
  std::string kernel_file;  ///< file name of the source
  std::string entry;
  std::string symbol;
  std::string arch;

  std::vector<DraftArgument> arguments;  ///< the kernel's parameters, followed by the constants
  std::vector<std::pair<std::string, std::string>> variables;  ///< shape variables and values
  std::vector<DraftShape> more_shapes;     ///< checked shapes besides the timed shape
  std::vector<std::string> problem_sizes;  ///< T1 file's ProblemSize: variables or expressions
  std::vector<std::string> grid;
  std::vector<std::string> block;
  std::string dynamic_shared_bytes = "0";
  /// arguments of the first kernel if there are several kernels
  std::vector<std::string> step_arguments;
  std::vector<DraftStep> later_steps;
  bool has_independent_ctas = false;
  std::string dependence;  ///< why CTAs are not independent
  bool is_deterministic = true;
  std::string max_abs_error;  ///< an expression; empty: chosen by the type of the outputs
  std::string flops = std::string(kUnknownFlops);
  DraftReference reference;

  std::vector<DraftParameter> parameters;
  /// parameters of the T1 file that are not in the space, with their values
  std::map<std::string, std::string> fixed;
  std::vector<std::string> constraints;
  std::vector<std::string> compiler_options;

  std::vector<std::string> notes;  ///< notes for the user
  /// parts of the user's input that the draft does not use, with the reason
  std::vector<std::string> left_out;
  std::vector<std::string> assumed;  ///< values in the files that were assumed
};

/// A file to write; `name` is relative to the output folder.
struct DraftFile {
  std::string name;
  std::string text;
};

/// The texts of problem.json, of the space file, and of reference.py if the reference is a program.
[[nodiscard]] std::vector<DraftFile> rendered(const Draft& draft);

}  // namespace evo
