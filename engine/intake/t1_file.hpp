#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// A tuning parameter of a T1 file.
struct T1Parameter {
  std::string name;
  std::vector<Json> values;
  std::optional<Json> default_value = {};
};

/// An argument of the kernel, or a `__constant__` variable, in a T1 file.
struct T1Argument {
  std::string name;
  std::string type;  ///< "float", "int32", "float4"
  bool is_scalar = false;
  bool is_constant = false;
  std::string fill;  ///< "Constant", "Random" …; empty: not specified
  std::optional<double> fill_value = {};
  std::optional<double> low = {};  ///< MinValue, for Random
  std::optional<double> high = {};
  std::string data_source;  ///< file or generator, for other values of `fill`
  std::string size;         ///< an expression; empty: not specified
};

/// The parts of a T1 file (the tuning problem format of Kernel Tuner, KTT and BAT) that help to
/// draft a problem and a space. Expressions are in Python.
struct T1File {
  std::string kernel;  ///< with its template arguments
  std::vector<T1Parameter> parameters;
  std::vector<std::string> conditions;
  std::vector<std::string> compiler_options;
  std::vector<std::string> problem_size;  ///< x first; empty: not specified
  /// The divisors of the problem size that give the grid's size, for each dimension. An empty list:
  /// no divisor. Nullopt: not specified.
  std::array<std::optional<std::vector<std::string>>, 3> grid_divisors = {};
  std::array<std::string, 3> global_size = {};  ///< empty: not specified
  std::array<std::string, 3> local_size = {};
  bool global_counts_threads = false;  ///< GlobalSizeType OpenCL
  std::string shared_bytes;
  std::vector<T1Argument> arguments;
  std::vector<std::string> left_out;  ///< content that cannot be used, with the reason
};

/// Reads a T1 file. Keys may be in upper or lower case, and a list of values may be a string with a
/// Python expression. Throws InputError naming file and key if the file is not a T1 file.
[[nodiscard]] T1File read_t1_file(const std::filesystem::path& file);

}  // namespace evo
