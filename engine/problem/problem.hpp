#pragma once

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/device_info.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/formulas.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/launch_config.hpp"
#include "engine/core/tensor_map.hpp"
#include "engine/core/texture.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/generator.hpp"
#include "engine/problem/profile_spec.hpp"

namespace evo {

/// The values of the names that expressions may use, such as shape variables, macros, names that a
/// space gives to values of macros, and SM_COUNT.
using Values = std::map<std::string, double>;

enum class Direction { kIn, kOut, kInOut, kWorkspace, kScalar, kTensorMap };

[[nodiscard]] std::string_view to_string(Direction direction);

/// A member of a structure that is passed by value.
struct Field {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Expression value;
};

/// The texture object through which kernels read an input argument.
struct TextureSetup {
  TextureSpec spec;  ///< its sizes are unset: see width and height
  Expression width;  ///< in texels
  std::optional<Expression> height = {};
};

/// A tensor map (CUtensorMap) over a buffer, which is another argument. Lists such as `strides`
/// begin with the innermost dimension. Expressions may use macros, so each kernel has its own map.
struct TensorMapSetup {
  std::string of;            ///< name of the buffer
  std::size_t position = 0;  ///< position of the buffer in Problem::arguments
  std::vector<Expression> dims;
  std::vector<Expression> strides;  ///< bytes; empty: a dense tensor
  std::vector<Expression> box;
  std::vector<Expression> element_strides;  ///< empty: 1 each
  Expression swizzle;                       ///< bytes
  Expression l2_promotion;                  ///< bytes
};

/// A kernel parameter, or a __constant__ variable. Problem::arguments lists parameters first.
struct Argument {
  std::string name;
  Direction direction = Direction::kIn;
  Dtype dtype = Dtype::kF32;
  /// The number of elements of a buffer, or the value of a scalar. A template may set another
  /// number of elements for a workspace.
  Expression size;
  Generator generator;  ///< for in and inout; unused if a formula or only `file` is given
  /// For out and inout: the number of elements per row, as an expression of shape variables;
  /// nullopt: the output has no rows.
  std::optional<Expression> row = {};
  /// For out and inout: false lets the audits reject the problem if wrong kernels would pass, for
  /// example because the expected output is constant. True: no audit inspects this output.
  bool degenerate = false;
  /// For out and inout: false if the output is not compared with the expected output. Such an
  /// output is still poisoned before a launch, and its guard zones are checked.
  bool is_compared = true;
  /// For out and inout: the number of leading elements that are compared, as an expression of shape
  /// variables. Nullopt: all elements.
  std::optional<Expression> compared = {};
  /// For in and inout: the expression for element number INDEX, which may also use shape variables
  /// and shape macros.
  std::optional<Expression> formula = {};
  /// For in and inout: a .npy file in the problem's folder; "{shape}" becomes the shape's name.
  std::string file = {};
  /// The shapes on which `file` gives the input; on other shapes, `generator` draws it. Empty: all
  /// shapes.
  std::vector<std::string> file_shapes = {};
  /// True: the first case of a shape reads `file`, and `generator` draws the inputs of other cases.
  bool has_file_and_generator = false;
  /// The C++ name of a __constant__ variable, to which the device copies the argument before each
  /// launch, or before a CUDA graph of launches; empty for other arguments.
  std::string symbol = {};
  /// Set if kernels read this input through a texture object.
  std::optional<TextureSetup> texture = {};
  /// Set if the argument is a tensor map.
  std::optional<TensorMapSetup> tensor_map = {};
  /// Not empty if the argument is a structure that is passed by value.
  std::vector<Field> fields = {};
  /// For out: true if the extent depends on macros, so that each kernel has its own buffer for the
  /// output, and the problem's check program judges the content.
  bool is_sized_by_macros = false;
  /// True if the argument's value may differ between kernels: for tensor maps, and for scalars
  /// whose value depends on macros or SM_COUNT.
  bool is_set_by_macros = false;

  [[nodiscard]] bool is_input() const {
    return direction == Direction::kIn || direction == Direction::kInOut;
  }
  [[nodiscard]] bool is_output() const {
    return direction == Direction::kOut || direction == Direction::kInOut;
  }
  /// True for an output whose expected content the reference gives, if the problem has a reference.
  [[nodiscard]] bool is_expected() const {
    return is_output() && is_compared && !is_sized_by_macros;
  }
  [[nodiscard]] bool is_compared_whole() const { return is_compared && !compared; }
  [[nodiscard]] bool is_constant() const { return !symbol.empty(); }
  /// True if the content of the argument is random, so that it depends on the seed.
  [[nodiscard]] bool is_drawn() const {
    return is_input() && !formula && (file.empty() || has_file_and_generator) &&
           generator.distribution != Distribution::kConstant;
  }
  /// True if at least one case of `shape` reads the argument from `file`.
  [[nodiscard]] bool takes_file(std::string_view shape) const {
    return !file.empty() &&
           (file_shapes.empty() || std::ranges::find(file_shapes, shape) != file_shapes.end());
  }
  /// True for a buffer whose size each kernel chooses.
  [[nodiscard]] bool belongs_to_kernel() const {
    return direction == Direction::kWorkspace || is_sized_by_macros;
  }

  /// Number of bytes of the buffer. Throws ProblemError if the extent is not a whole number ≥ 0 or
  /// the buffer is larger than kMostBytes.
  [[nodiscard]] std::size_t bytes(const Values& values) const { return bytes(values, size); }
  /// Number of bytes of the buffer with `extent` elements, where KernelSpec::extent_of() gives
  /// `extent`.
  [[nodiscard]] std::size_t bytes(const Values& values, const Expression& extent) const;
  /// Number of leading bytes that are compared. Throws ProblemError if `compared` is not a whole
  /// number from 1 to the number of elements.
  [[nodiscard]] std::size_t compared_bytes(const Values& values) const;
  /// The texture object of this argument, which must have one. Throws ProblemError if a size is not
  /// a whole number from 1, or if CUDA does not support the texture object.
  [[nodiscard]] TextureSpec texture_spec(const Values& values) const;
  /// Number of elements per row of an output; 0 for an output without rows. Throws ProblemError
  /// unless the compared elements are whole rows.
  [[nodiscard]] std::size_t row_length(const Values& values) const;
  /// The value of a scalar without fields. Throws ProblemError if the value is not a whole number
  /// within the range of an integer `dtype`, or exceeds the largest finite value of a floating
  /// `dtype`.
  [[nodiscard]] double scalar(const Values& values) const;
  /// The bytes of a scalar; for a structure, in its C++ layout.
  [[nodiscard]] std::vector<std::byte> scalar_bytes(const Values& values) const;
  /// The expressions of a scalar, of its fields, or of a tensor map, each with its key in
  /// problem.json; empty for other arguments.
  [[nodiscard]] std::vector<std::pair<std::string, const Expression*>> scalar_expressions() const;
  /// Bytes that the argument takes among the kernel parameters: the size of the scalar, tensor map,
  /// pointer or texture object.
  [[nodiscard]] std::size_t parameter_bytes() const;
};

/// Limit of a buffer's size: 1 TiB, above the memory of any device.
inline constexpr double kMostBytes = 1099511627776.0;

/// A named set of values for the shape variables of a problem.
struct Shape {
  std::string name;
  Values variables;
  /// true: candidates are checked on this shape; false: they are checked on it only if it is timed
  bool check = false;
  std::vector<std::string> tags = {};  ///< names for groups of shapes
};

/// Grid, block and dynamic shared memory as expressions.
struct LaunchExpressions {
  std::vector<Expression> grid;
  std::vector<Expression> block;
  Expression dynamic_shared_bytes;

  /// Throws ProblemError if a dimension is not a whole number within CUDA's limits.
  [[nodiscard]] LaunchConfig evaluate(const Values& values) const;
  /// Like evaluate(), but evaluates only the expressions whose names are all in `known`.
  void check(const Values& known) const;
};

/// Evaluated bounds of the correctness gate.
struct Tolerance {
  double max_abs_error = 0;
  double bad_abs_error = 0;
  double bad_share = 0;
  double relative_l2 = 0;
  /// For arguments with rows: bound of |out − ref| / rms of ref over the element's row.
  double max_row_error = std::numeric_limits<double>::infinity();
};

struct ToleranceExpressions {
  Expression max_abs_error;
  Expression bad_abs_error;
  Expression bad_share;
  Expression relative_l2;
  std::optional<Expression> max_row_error = {};  ///< nullopt: no bound

  /// Throws ProblemError unless every bound is finite and ≥ 0, and bad_share and relative_l2 are at
  /// most 1 (an output of zeros has relative_l2 = 1).
  [[nodiscard]] Tolerance evaluate(const Values& values) const;
  /// Like evaluate(), but evaluates only the bounds whose names are all in `known`.
  void check(const Values& known) const;
  /// True if the bounds use only names in `known`.
  [[nodiscard]] bool depend_only_on(const Values& known) const;
};

/// A kernel of a source file and how to launch it.
struct KernelStep {
  std::string entry;  ///< C++ name; each compilation finds its symbol
  LaunchExpressions launch;
  /// Positions, in Problem::arguments, of the kernel's parameters in order; nullopt: all arguments.
  /// Never nullopt in a problem with tensor maps: a step takes only the maps that it lists.
  std::optional<std::vector<std::size_t>> arguments = {};
  /// Expression of shape variables and macros: 0 skips the step. Nullopt: the step always runs.
  std::optional<Expression> when = {};

  [[nodiscard]] bool runs(const Values& values) const {
    return !when || when->evaluate(values) != 0;
  }
};

/// A source file and how to launch its kernel, or the sequence of its kernels.
struct KernelSpec {
  std::string name;               ///< the template's name; "reference" for the reference
  std::filesystem::path source;   ///< absolute path
  std::vector<KernelStep> steps;  ///< usually one
  ToleranceExpressions tolerance;
  bool deterministic = true;     ///< true: a repeated run must give the same bits
  Expression shapes_where{"1"};  ///< expression of shape variables: 0 for unsupported shapes
  /// Expression of shape variables and macros: 1 if every CTA computes its part of the outputs
  /// without other CTAs, so that a check may run a few CTAs instead of all.
  Expression independent_ctas{"0"};
  /// For a reference: the linear index of the CTA that computes row ROW of the outputs; nullopt:
  /// unknown.
  std::optional<Expression> cta_of_row = {};
  /// Extents that the template sets for workspace arguments, by the argument's name, in place of
  /// Argument::size.
  std::map<std::string, Expression> workspace = {};

  /// True if at least one step takes the argument at `position`.
  [[nodiscard]] bool takes(std::size_t position) const;
  /// The extent of an argument for this kernel.
  [[nodiscard]] const Expression& extent_of(const Argument& argument) const;
  /// True for a single step that takes all arguments and always runs, as problem.json describes it
  /// by "entry" instead of "steps".
  [[nodiscard]] bool is_plain() const;
  /// The distinct entries of the steps, in the order of first use.
  [[nodiscard]] std::vector<std::string> entries() const;
  /// The launches of the steps that `when` does not skip. Throws ProblemError if all steps are
  /// skipped, or if a dimension is out of range.
  [[nodiscard]] LaunchPlan launch(const Values& values) const;
};

/// Macros and their values, as written in problem.json.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The source of the expected outputs: one of the members `kernel`, `set`, `files` and `program` is
/// set, or none of them if only the problem's check program judges outputs.
struct Reference {
  std::optional<KernelSpec> kernel = {};  ///< a kernel
  Settings macros = {};                   ///< macros for this kernel
  std::optional<Settings> set = {};       ///< a configuration of the template itself
  /// .npy file of each output, by the output's name; "{shape}" is replaced by the shape's name
  std::map<std::string, std::string> files = {};
  std::vector<std::string> program = {};  ///< a program and its arguments

  /// False if only the check program judges outputs.
  [[nodiscard]] bool is_given() const { return is_launched() || is_data(); }
  [[nodiscard]] bool is_launched() const { return kernel || set; }
  /// The reference kernel's macros that have numeric values, for use in the kernel's expressions.
  [[nodiscard]] Values macro_values() const;
  /// True if files or a program give the expected outputs, so that no reference kernel is launched.
  [[nodiscard]] bool is_data() const { return !files.empty() || !program.empty(); }
};

/// A problem: the computation of a kernel, its data, and how its result is judged.
class Problem {
 public:
  /// Reads `folder`/problem.json. Throws ProblemError (or InputError) naming file, key and value.
  static Problem load(const std::filesystem::path& folder);
  /// Parses the text of a problem.json for workers and tests. `folder`: the problem's folder, to
  /// which paths in `text` are relative.
  static Problem parse(const std::string& text, const std::filesystem::path& folder);

  std::string name;
  std::vector<Argument> arguments;
  std::vector<Shape> shapes;
  /// Macros whose values depend on the shape: name, and expression of shape variables.
  std::vector<std::pair<std::string, Expression>> shape_macros;
  /// folders of included files, as written in problem.json, relative to `folder`
  std::vector<std::string> include_paths;
  /// Names of __constant__ and __device__ variables that are intentionally zero.
  std::vector<std::string> unset_constants;
  Formulas let;  ///< named formulas, already expanded in all expressions
  Expression flops;
  Expression bytes;
  Reference reference;
  /// the check program and its arguments; empty: only the tolerance judges outputs
  std::vector<std::string> check_program;
  /// Whether the check program's verdict depends only on the shape, the outputs and their expected
  /// contents, so that the program needs neither inputs nor the seed.
  bool check_needs_only_outputs = false;
  std::vector<std::string> program_files;  ///< non-Python files that the programs read
  std::vector<KernelSpec> templates;
  std::filesystem::path folder;
  std::string text;  ///< the text of problem.json
  std::optional<ProfileSpec> profile = {};

  /// The shape named `shape_name`. Throws InputError listing the shapes' names if there is no such
  /// shape.
  [[nodiscard]] const Shape& shape(std::string_view shape_name) const;
  [[nodiscard]] const KernelSpec& kernel(std::string_view template_name) const;

  /// The path of the data file `name`, in which "{shape}" is replaced by the name of `shape`.
  /// Throws ProblemError naming `key` unless the file exists below the parent of `folder`.
  [[nodiscard]] std::filesystem::path data_file(const std::string& key, const std::string& name,
                                                const Shape& shape) const;
  /// All files, besides sources, that affect verdicts: data files; files named on the command lines
  /// of the problem's programs; `program_files`; and, if there are programs, the Python files below
  /// the folders of the problem and of the programs, because a program may import these.
  [[nodiscard]] std::vector<std::filesystem::path> data_files() const;

  /// The macros that the problem defines for `shape` in addition to those of the space, by name.
  [[nodiscard]] Values macros_for(const Shape& shape) const;

  /// The values for a kernel's expressions on `shape`: `macros` of a configuration, shape
  /// variables, shape macros and SM_COUNT; if several of these four define one name, the last one
  /// decides its value.
  [[nodiscard]] Values values_for(const Shape& shape, int sm_count,
                                  const Values& macros = {}) const;

  /// The timed shapes, followed by the other shapes with `check` that `kernel` supports and that
  /// use the same compiler macros. `timed` must not be empty, and its shapes must have the same
  /// macros. Throws InputError if the kernel does not support a timed shape.
  [[nodiscard]] std::vector<const Shape*> checked_shapes(const std::vector<const Shape*>& timed,
                                                         const KernelSpec& kernel) const;

  /// The shapes that `names` selects, in the order of `names` and without repetition. `names` is a
  /// list, separated by commas, of shape names and "tag:NAME"; or "all", which selects all shapes
  /// that `kernel` supports. Throws InputError naming the known names if a name is unknown, or if a
  /// tag selects no further shape.
  [[nodiscard]] std::vector<const Shape*> select_shapes(const std::string& names,
                                                        const KernelSpec& kernel) const;
};

/// The parent of `folder`, a problem's folder, as an absolute path without links.
[[nodiscard]] std::filesystem::path folder_of_problems(const std::filesystem::path& folder);

/// True if `file`, with links followed, lies below folder_of_problems(folder).
[[nodiscard]] bool lies_beside(const std::filesystem::path& folder,
                               const std::filesystem::path& file);

/// True if every variable of the expression has a value.
[[nodiscard]] bool depends_only_on(const Expression& expression, const Values& values);

/// Merges maps of names to values. A name that is in several maps gets its value from the last of
/// them.
[[nodiscard]] Values merged(std::initializer_list<const Values*> parts);

}  // namespace evo
