#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
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
#include "engine/core/texture.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/generator.hpp"
#include "engine/problem/profile_spec.hpp"

namespace evo {

/// Names and values expressions are evaluated with: shape variables, macros, value names, SM_COUNT.
using Values = std::map<std::string, double>;

enum class Direction { kIn, kOut, kInOut, kWorkspace, kScalar };

[[nodiscard]] std::string_view to_string(Direction direction);

/// A member of a structure that is passed by value.
struct Field {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Expression value;
};

/// What a texture object over an argument is.
struct TextureSetup {
  TextureSpec spec;  ///< but for its sizes
  Expression width;  ///< in texels
  std::optional<Expression> height = {};
};

/// One parameter of the kernel, or, behind them, one of its __constant__ variables.
struct Argument {
  std::string name;
  Direction direction = Direction::kIn;
  Dtype dtype = Dtype::kF32;
  /// Number of elements; for a scalar, its value; for a workspace, unless the template says its
  /// own.
  Expression size;
  Generator generator;  ///< for in and inout, without a formula or file
  /// For out and inout: elements of a row, of shape variables; none: it has no rows.
  std::optional<Expression> row = {};
  /// For out and inout: what is expected may be all one value, or the same for all inputs, and is
  /// meant so. Otherwise such a problem is refused, since it cannot tell right from wrong.
  bool degenerate = false;
  /// For out and inout: false where what a kernel leaves there is nobody's result. It is poisoned
  /// and its guard zones are looked at, no more.
  bool is_compared = true;
  /// For out and inout: so many of the first elements are the result, what lies behind them is
  /// nobody's; of shape variables. None: all elements.
  std::optional<Expression> compared = {};
  /// For in and inout: each element by its number INDEX and shape variables.
  std::optional<Expression> formula = {};
  /// For in and inout: a .npy file in the problem's folder; "{shape}" stands for the shape's name.
  std::string file = {};
  /// The shapes that take it, the others being drawn; empty: all.
  std::vector<std::string> file_shapes = {};
  /// Beside a file: cases that do not take it are drawn by `generator`, those of all seeds but the
  /// first.
  bool has_file_and_generator = false;
  /// Of a __constant__ variable: its name in C++; else empty. The device copies the argument there
  /// before each launch.
  std::string symbol = {};
  /// Of an input that kernels read by a texture object.
  std::optional<TextureSetup> texture = {};
  /// Of a scalar that is a structure.
  std::vector<Field> fields = {};
  /// For out: the extent depends on macros, so that each kernel has its own buffer, which a check
  /// program judges.
  bool is_sized_by_macros = false;
  /// For a scalar: its value depends on macros or SM_COUNT, so that each kernel is given its own.
  bool is_set_by_macros = false;

  [[nodiscard]] bool is_input() const {
    return direction == Direction::kIn || direction == Direction::kInOut;
  }
  [[nodiscard]] bool is_output() const {
    return direction == Direction::kOut || direction == Direction::kInOut;
  }
  /// An output of which the reference says what it holds.
  [[nodiscard]] bool is_expected() const {
    return is_output() && is_compared && !is_sized_by_macros;
  }
  [[nodiscard]] bool is_compared_whole() const { return is_compared && !compared; }
  [[nodiscard]] bool is_constant() const { return !symbol.empty(); }
  /// It holds other values for another seed.
  [[nodiscard]] bool is_drawn() const {
    return is_input() && !formula && (file.empty() || has_file_and_generator) &&
           generator.distribution != Distribution::kConstant;
  }
  /// Whether some case of this shape takes the file.
  [[nodiscard]] bool takes_file(std::string_view shape) const {
    return !file.empty() &&
           (file_shapes.empty() || std::ranges::find(file_shapes, shape) != file_shapes.end());
  }
  /// A buffer that each kernel brings, of a size of its own.
  [[nodiscard]] bool belongs_to_kernel() const {
    return direction == Direction::kWorkspace || is_sized_by_macros;
  }

  /// Number of bytes of the buffer. Throws ProblemError when the extent is not a whole number ≥ 0
  /// or the buffer larger than kMostBytes.
  [[nodiscard]] std::size_t bytes(const Values& values) const { return bytes(values, size); }
  /// The same with the extent a template gives, see KernelSpec::extent_of.
  [[nodiscard]] std::size_t bytes(const Values& values, const Expression& extent) const;
  /// Bytes of the elements that are compared, from the first on. Throws ProblemError where these
  /// are more than the buffer has, or none of those that it has.
  [[nodiscard]] std::size_t compared_bytes(const Values& values) const;
  /// The texture object of an argument that has one. Throws ProblemError unless CUDA takes it.
  [[nodiscard]] TextureSpec texture_spec(const Values& values) const;
  /// Elements of a row; 0 without rows. Throws ProblemError unless whole rows fill what is
  /// compared.
  [[nodiscard]] std::size_t row_length(const Values& values) const;
  /// The value of a scalar without fields. Throws ProblemError unless `dtype` holds it: whole and
  /// in range for an integer type, not beyond the largest finite one for a floating type.
  [[nodiscard]] double scalar(const Values& values) const;
  /// The bytes of a scalar, of a structure as C++ lays it out.
  [[nodiscard]] std::vector<std::byte> scalar_bytes(const Values& values) const;
  /// The expressions of a scalar's value, or of its fields, with their keys; nothing for others.
  [[nodiscard]] std::vector<std::pair<std::string, const Expression*>> scalar_expressions() const;
  /// Bytes of the parameter of a kernel that it is: of a scalar, or of an address or handle.
  [[nodiscard]] std::size_t parameter_bytes() const;
};

/// Bytes that one buffer may have: 1 TiB, above the memory of any device.
inline constexpr double kMostBytes = 1099511627776.0;

/// A named set of sizes.
struct Shape {
  std::string name;
  Values variables;
  bool check = false;                  ///< checked for every candidate, not only when timed
  std::vector<std::string> tags = {};  ///< names for several shapes at once
};

/// Grid, block and dynamic shared memory as expressions.
struct LaunchExpressions {
  std::vector<Expression> grid;
  std::vector<Expression> block;
  Expression dynamic_shared_bytes;

  /// Throws ProblemError when a dimension is not a whole number in the range CUDA allows.
  [[nodiscard]] LaunchConfig evaluate(const Values& values) const;
  /// The same for the expressions that only depend on `known`.
  void check(const Values& known) const;
};

/// Bounds of the correctness gate, evaluated.
struct Tolerance {
  double max_abs_error = 0;
  double bad_abs_error = 0;
  double bad_share = 0;
  double relative_l2 = 0;
  /// Of arguments with rows: |out − ref| / rms of ref over the element's row.
  double max_row_error = std::numeric_limits<double>::infinity();
};

struct ToleranceExpressions {
  Expression max_abs_error;
  Expression bad_abs_error;
  Expression bad_share;
  Expression relative_l2;
  std::optional<Expression> max_row_error = {};  ///< none: no bound

  /// Throws ProblemError unless every bound is finite and ≥ 0, and bad_share and relative_l2 (which
  /// an output of zeros reaches at 1) at most 1.
  [[nodiscard]] Tolerance evaluate(const Values& values) const;
  /// The same for the bounds that only depend on `known`.
  void check(const Values& known) const;
  /// Whether these names are all that the bounds depend on.
  [[nodiscard]] bool depend_only_on(const Values& known) const;
};

/// A kernel of a source file and how to launch it.
struct KernelStep {
  std::string entry;  ///< in C++; its symbol belongs to the compilation
  LaunchExpressions launch;
  /// Positions of the problem's arguments that are its parameters, in their order; none: all.
  std::optional<std::vector<std::size_t>> arguments = {};
  /// Of shape variables and macros: 0 leaves the step out; none: it always runs.
  std::optional<Expression> when = {};

  [[nodiscard]] bool runs(const Values& values) const {
    return !when || when->evaluate(values) != 0;
  }
};

/// A source file and how to launch its kernel, or its kernels one after the other.
struct KernelSpec {
  std::string name;               ///< of the template; "reference" for the reference
  std::filesystem::path source;   ///< absolute
  std::vector<KernelStep> steps;  ///< most have one
  ToleranceExpressions tolerance;
  bool deterministic = true;     ///< a repeated run must agree bit for bit
  Expression shapes_where{"1"};  ///< of shape variables: 0 for shapes it does not support
  /// Of shape variables and macros: 1 when every CTA computes its share of the outputs alone, so
  /// that a few of them may stand for all.
  Expression independent_ctas{"0"};
  /// For a reference: the linear CTA that computes row ROW of the outputs; none: nobody knows.
  std::optional<Expression> cta_of_row = {};
  /// Extents of workspace arguments that differ from the arguments' own, by name.
  std::map<std::string, Expression> workspace = {};

  /// The elements this kernel needs of an argument.
  [[nodiscard]] const Expression& extent_of(const Argument& argument) const;
  /// One kernel that takes all arguments and always runs: what "entry" says instead of "steps".
  [[nodiscard]] bool is_plain() const;
  /// The different entries of the steps, in the order in which they occur first.
  [[nodiscard]] std::vector<std::string> entries() const;
  /// The steps that run. Throws ProblemError when none does, or a dimension is out of range.
  [[nodiscard]] LaunchPlan launch(const Values& values) const;
};

/// A macro and its value, as the problem writes it.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Where the outputs that are expected come from. One of these is set; none where the problem's
/// check program alone judges.
struct Reference {
  std::optional<KernelSpec> kernel = {};          ///< a kernel of its own
  Settings macros = {};                           ///< that this kernel is compiled with
  std::optional<Settings> set = {};               ///< this configuration of the template itself
  std::map<std::string, std::string> files = {};  ///< .npy by output; "{shape}": the shape's name
  std::vector<std::string> program = {};          ///< and its arguments

  [[nodiscard]] bool is_launched() const { return kernel || set; }
  /// Those of `macros` that are numbers, for the kernel's expressions.
  [[nodiscard]] Values macro_values() const;
  /// All of an output is known before a kernel is launched, on a device that runs a part of it too.
  [[nodiscard]] bool is_data() const { return !files.empty() || !program.empty(); }
};

/// What a kernel computes, on what data, and how its result is judged.
class Problem {
 public:
  /// Reads `folder`/problem.json. Throws ProblemError (or InputError) naming file, key and value.
  static Problem load(const std::filesystem::path& folder);
  /// From text already read; `folder` is where sources stand. For workers and tests.
  static Problem parse(const std::string& text, const std::filesystem::path& folder);

  std::string name;
  std::string description;
  std::vector<Argument> arguments;
  std::vector<Shape> shapes;
  std::vector<std::pair<std::string, Expression>> shape_macros;  ///< macro ← shape expression
  std::vector<std::string> include_paths;                        ///< as written, from `folder`
  /// Names of __constant__ variables whose zeros are meant.
  std::vector<std::string> unset_constants;
  Formulas let;  ///< each whole; every expression of the problem has them in its place
  Expression flops;
  Expression bytes;
  Reference reference;
  std::vector<std::string> check_program;  ///< and its arguments; empty: the tolerance judges alone
  std::vector<std::string> program_files;  ///< what its programs read beside Python's modules
  std::vector<KernelSpec> templates;
  std::filesystem::path folder;
  std::string text;  ///< the file as read
  std::optional<ProfileSpec> profile = {};

  /// Throws InputError listing the known ones.
  [[nodiscard]] const Shape& shape(std::string_view shape_name) const;
  [[nodiscard]] const KernelSpec& kernel(std::string_view template_name) const;

  /// The file that `name` means on `shape`. Throws ProblemError naming `key` when there is no such
  /// file below the folder of problems.
  [[nodiscard]] std::filesystem::path data_file(const std::string& key, const std::string& name,
                                                const Shape& shape) const;
  /// All files beside sources that decide about verdicts: data; what its programs name and
  /// `program_files`; and, where it has programs, every Python file that they can import: of the
  /// problem's folder, of those of the programs, and below.
  [[nodiscard]] std::vector<std::filesystem::path> data_files() const;

  /// The macros a kernel for `shape` is compiled with beside the space's: name → value.
  [[nodiscard]] Values macros_for(const Shape& shape) const;

  /// What the expressions of a kernel on `shape` are evaluated with: `macros` (of a configuration),
  /// shape variables, shape macros and SM_COUNT; later ones win.
  [[nodiscard]] Values values_for(const Shape& shape, int sm_count,
                                  const Values& macros = {}) const;

  /// The timed shapes first, then every other shape with `check` that `kernel` supports and that is
  /// compiled with the same macros. At least one is timed, and all with the same macros. Throws
  /// InputError when the kernel does not support a timed one.
  [[nodiscard]] std::vector<const Shape*> checked_shapes(const std::vector<const Shape*>& timed,
                                                         const KernelSpec& kernel) const;

  /// The shapes that `names` asks for, in that order, each once: names and "tag:NAME", separated by
  /// commas, or "all" that have the macros of the first and that `kernel` supports. Throws
  /// InputError naming what is unknown, and what there is.
  [[nodiscard]] std::vector<const Shape*> select_shapes(const std::string& names,
                                                        const KernelSpec& kernel) const;
};

/// Whether a file lies below the folder that holds the problem `folder`, also once links are
/// followed.
[[nodiscard]] bool lies_beside(const std::filesystem::path& folder,
                               const std::filesystem::path& file);

/// True when every variable of the expression has a value.
[[nodiscard]] bool depends_only_on(const Expression& expression, const Values& values);

/// One map of several; later ones win.
[[nodiscard]] Values merged(std::initializer_list<const Values*> parts);

}  // namespace evo
