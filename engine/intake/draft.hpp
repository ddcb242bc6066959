#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/space/parameter.hpp"

namespace evo {

/// A value that is not known: "TODO: what". Such strings are what core/unfinished.hpp looks for.
[[nodiscard]] std::string todo(const std::string& what);
[[nodiscard]] bool is_todo(const std::string& text);

/// Draft::flops where nobody said how many.
inline constexpr std::string_view kUnknownFlops = "1";

/// DraftArgument::use of a parameter that no instruction reads.
inline constexpr std::string_view kNeverUsed = "never used";

/// An argument of the problem to be written.
struct DraftArgument {
  enum class Kind { kIn, kOut, kInOut, kScalar, kConstant, kTexture, kWorkspace };

  std::string name;
  Kind kind = Kind::kIn;
  std::string type;           ///< in C++
  std::string dtype;          ///< "f32", or what is to be written
  int lanes = 1;              ///< elements of `dtype` in one of `type`: 4 in a float4
  std::uint64_t bytes = 0;    ///< of the parameter, or of a whole constant
  std::string use;            ///< for people: "loaded", "stored", "never used"
  std::string extent;         ///< of buffers and constants: an expression, or what is to be written
  std::string value;          ///< of a scalar, likewise
  Json generator = {};        ///< of what is read; a string: what is to be written
  int dimensions = 0;         ///< of a texture
  std::string given_as = {};  ///< its name in the T1 file
  bool is_compared = true;    ///< of an output: false for scratch memory

  [[nodiscard]] bool is_read() const {
    return kind == Kind::kIn || kind == Kind::kInOut || kind == Kind::kConstant ||
           kind == Kind::kTexture;
  }
  [[nodiscard]] bool is_written() const { return kind == Kind::kOut || kind == Kind::kInOut; }
};

/// A macro of the space to be written; no values: they are to be written.
struct DraftParameter {
  std::string macro;
  std::vector<Json> values = {};
  Json default_value = {};
  bool is_read = true;  ///< by the source; else only the launch can depend on it
};

/// A shape beside the one that is timed, with the values of its variables in their order.
struct DraftShape {
  std::string name;
  std::vector<std::string> values;
};

/// Where what is expected comes from.
struct DraftReference {
  enum class Kind { kProgram, kDefaults, kKernel };

  Kind kind = Kind::kProgram;
  std::string entry = {};  ///< of kKernel, and how to launch it
  std::vector<std::string> grid = {};
  std::vector<std::string> block = {};
  std::string dynamic_shared_bytes = {};  ///< empty: none
};

/// A kernel that runs behind the draft's own.
struct DraftStep {
  std::string entry;
  std::vector<std::string> arguments;  ///< names of the draft's, in the kernel's order
  std::vector<std::string> grid = {};
  std::vector<std::string> block = {};
  std::string dynamic_shared_bytes = {};
};

/// The files to be written, before they are text.
struct Draft {
  std::string name;         ///< of problem, template and space
  std::string kernel_file;  ///< name of the source
  std::string entry;
  std::string symbol;
  std::string arch;

  std::vector<DraftArgument> arguments;  ///< the kernel's parameters, then the constants
  std::vector<std::pair<std::string, std::string>> variables;  ///< of the shape
  std::vector<DraftShape> more_shapes;                         ///< checked beside it
  std::vector<std::string> problem_sizes;  ///< of the T1 file: a variable, or an expression
  std::vector<std::string> grid;
  std::vector<std::string> block;
  std::string dynamic_shared_bytes = "0";
  std::vector<std::string> step_arguments;  ///< of the first kernel, where there are more
  std::vector<DraftStep> later_steps;
  bool has_independent_ctas = false;
  std::string dependence;  ///< why they are not independent
  bool is_deterministic = true;
  std::string max_abs_error;  ///< an expression; empty: by the type of the outputs
  std::string flops = std::string(kUnknownFlops);
  DraftReference reference;

  std::vector<DraftParameter> parameters;
  std::map<std::string, std::string> fixed;  ///< parameters left out, with the value they have
  std::vector<std::string> constraints;
  std::vector<std::string> compiler_options;

  std::vector<std::string> notes;     ///< what people should know
  std::vector<std::string> left_out;  ///< what was given and is not used, and why
  std::vector<std::string> assumed;   ///< what stands in the files and nobody said
};

/// A file to be written; `name` from the folder that was asked for.
struct DraftFile {
  std::string name;
  std::string text;
};

/// problem.json, the space, and reference.py where it is the reference.
[[nodiscard]] std::vector<DraftFile> rendered(const Draft& draft);

}  // namespace evo
