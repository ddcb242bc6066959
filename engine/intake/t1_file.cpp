#include "engine/intake/t1_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/intake/python_list.hpp"

namespace evo {
namespace {

/// The value of `object` under one of `keys`, ignoring case; null if there is no such key.
const Json& find(const Json& object, std::initializer_list<std::string_view> keys) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  for (const auto& [name, value] : object.items()) {
    for (const std::string_view key : keys) {
      if (lower_case(name) == lower_case(std::string(key))) return value;
    }
  }
  return nothing;
}

/// The text of an expression from a JSON string or number; empty for other values.
std::string text_of(const Json& value) {
  if (value.is_string()) return std::string(trimmed(value.get_ref<const std::string&>()));
  if (value.is_number() || value.is_boolean()) return value.dump();
  return {};
}

std::string string_in(const Json& object, std::string_view key) {
  const Json& value = find(object, {key});
  return value.is_string() ? value.get<std::string>() : "";
}

/// A number from a JSON number or a string that contains a number; nullopt for other values.
std::optional<double> number_in(const Json& object, std::initializer_list<std::string_view> keys) {
  const Json& value = find(object, keys);
  const Json number =
      value.is_string() ? Json::parse(value.get<std::string>(), nullptr, false) : value;
  if (!number.is_number()) return std::nullopt;
  return number.get<double>();
}

class T1Reader {
 public:
  explicit T1Reader(const std::filesystem::path& file) : file_(file.string()) {
    json_ = read_json_file(file);
  }

  T1File read() {
    const Json& space = section({"ConfigurationSpace"});
    const Json& kernel = section({"KernelSpecification"});
    read_language(kernel);
    read_kernel_name(kernel);
    for (const Json& entry : list(find(space, {"TuningParameters"}))) read_parameter(entry);
    for (const Json& entry : list(find(space, {"Conditions"}))) {
      const std::string text = entry.is_string() ? text_of(entry) : string_in(entry, "Expression");
      if (!text.empty()) found_.conditions.push_back(text);
    }
    for (const Json& entry : list(find(kernel, {"CompilerOptions"}))) {
      found_.compiler_options.push_back(text_of(entry));
    }
    read_launch(kernel);
    for (const Json& entry : list(find(kernel, {"Arguments"}))) read_argument(entry);
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(file_ + ": " + what); }

  const Json& section(std::initializer_list<std::string_view> keys) const {
    const Json& found = find(json_, keys);
    if (!found.is_object()) {
      fail(std::string(*keys.begin()) + ": missing; a T1 file has an object under this key");
    }
    return found;
  }

  /// The entries of an array; empty for other values.
  static const Json& list(const Json& value) {
    static const Json nothing = Json::array();
    return value.is_array() ? value : nothing;
  }

  void leave_out(const std::string& what) { found_.left_out.push_back(file_ + ": " + what); }

  void read_language(const Json& kernel) {
    const std::string language = string_in(kernel, "Language");
    if (language.empty() || lower_case(language) == "cuda") return;
    if (lower_case(language) != "opencl" && lower_case(language) != "hip") {
      fail("KernelSpecification.Language: \"" + language +
           "\": allowed: \"CUDA\"; \"OpenCL\" or \"HIP\" if the kernel also compiles "
           "as CUDA");
    }
    leave_out("KernelSpecification.Language: \"" + language + "\": the kernel is compiled as CUDA");
  }

  void read_kernel_name(const Json& kernel) {
    found_.kernel = string_in(kernel, "KernelName");
    std::string types;
    for (const Json& type : list(find(kernel, {"KernelTypeNames"}))) {
      types += (types.empty() ? "" : ", ") + text_of(type);
    }
    if (!types.empty()) found_.kernel += "<" + types + ">";
  }

  void read_parameter(const Json& entry) {
    T1Parameter parameter;
    parameter.name = string_in(entry, "Name");
    const std::string where = "TuningParameters: " + parameter.name + ": ";
    if (parameter.name.empty()) fail("TuningParameters: an entry has no Name");
    const Json& values = find(entry, {"Values"});
    try {
      if (values.is_array()) {
        parameter.values.assign(values.begin(), values.end());
      } else {
        parameter.values = python_list(text_of(values));
      }
    } catch (const InputError& error) {
      leave_out(where + "Values: " + error.what());
      return;
    }
    const bool is_text = std::any_of(parameter.values.begin(), parameter.values.end(),
                                     [](const Json& value) { return value.is_string(); });
    if (is_text || parameter.values.empty()) {
      leave_out(where + (is_text ? "its values are strings, which the compiler would get as numbers"
                                 : "it has no values"));
      return;
    }
    const Json& given = find(entry, {"Default"});
    const Json& fallback = given.is_array() && !given.empty() ? given[0] : given;
    if (!fallback.is_null()) parameter.default_value = fallback;
    if (lower_case(string_in(entry, "Type")) == "float") make_real(parameter);
    found_.parameters.push_back(std::move(parameter));
  }

  /// Converts the integers among the values of a float macro to reals, because 1 and 1.0 have
  /// different types in C++.
  static void make_real(T1Parameter& parameter) {
    for (Json& value : parameter.values) {
      if (value.is_number()) value = value.get<double>();
    }
    if (parameter.default_value && parameter.default_value->is_number()) {
      parameter.default_value = parameter.default_value->get<double>();
    }
  }

  /// A size as text: an expression, or a whole number from `least` on. Throws for other numbers.
  [[nodiscard]] std::string size_of(const Json& value, const std::string& key, double least) const {
    std::string text = text_of(value);
    if (text.empty() && !value.is_null() && !value.is_string()) {
      fail(key + ": " + value.dump() + ": allowed: a number or an expression");
    }
    const Json number = Json::parse(text, nullptr, false);
    if (!number.is_number()) return text;
    const double size = number.get<double>();
    if (size != std::floor(size) || size < least) {
      fail(fmt::format("{}: {}: allowed: whole numbers from {}", key, text, least));
    }
    return text;
  }

  void read_launch(const Json& kernel) {
    const Json& size = find(kernel, {"ProblemSize"});
    if (size.is_array()) {
      for (const Json& entry : size) {
        const std::string key = fmt::format("ProblemSize[{}]", found_.problem_size.size());
        found_.problem_size.push_back(size_of(entry, key, 1));
      }
    } else if (const std::string text = size_of(size, "ProblemSize", 1); !text.empty()) {
      found_.problem_size.push_back(text);
    }
    if (found_.problem_size.size() > 3) fail("ProblemSize: allowed: at most 3 dimensions");
    constexpr std::array<std::string_view, 3> kDivisors = {"GridDivX", "GridDivY", "GridDivZ"};
    for (std::size_t d = 0; d < kDivisors.size(); ++d) {
      const Json& divisors = find(kernel, {kDivisors[d]});
      if (divisors.is_null()) continue;
      std::vector<std::string>& by = found_.grid_divisors[d].emplace();
      const std::string key(kDivisors[d]);
      for (const Json& entry : list(divisors)) by.push_back(size_of(entry, key, 1));
      if (divisors.is_array()) continue;
      if (std::string text = size_of(divisors, key, 1); !text.empty())
        by.push_back(std::move(text));
    }
    read_sizes(find(kernel, {"GlobalSize", "GridSize"}), "GlobalSize", found_.global_size);
    read_sizes(find(kernel, {"LocalSize", "BlockSize"}), "LocalSize", found_.local_size);
    const std::string type = lower_case(string_in(kernel, "GlobalSizeType"));
    found_.global_counts_threads = type == "opencl";
    if (!type.empty() && type != "opencl" && type != "cuda") {
      leave_out("GlobalSizeType: \"" + type + "\": allowed: \"CUDA\" and \"OpenCL\"");
    }
    found_.shared_bytes = size_of(find(kernel, {"SharedMemory"}), "SharedMemory", 0);
  }

  void read_sizes(const Json& value, const std::string& key, std::array<std::string, 3>& sizes) {
    constexpr std::array<std::string_view, 3> kNames = {"X", "Y", "Z"};
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const bool has_entry = value.is_array() && d < value.size();
      const Json& size = has_entry ? value[d] : find(value, {kNames[d]});
      sizes[d] = size_of(size, fmt::format("{}.{}", key, kNames[d]), 1);
    }
    if (!value.is_object() && !value.is_array()) sizes[0] = size_of(value, key, 1);
  }

  void read_argument(const Json& entry) {
    T1Argument argument;
    argument.name = string_in(entry, "Name");
    argument.type = lower_case(string_in(entry, "Type"));
    const std::string memory = lower_case(string_in(entry, "MemoryType"));
    argument.is_scalar = memory == "scalar";
    argument.is_constant =
        memory == "symbol" || lower_case(string_in(entry, "MemType")) == "constant";
    if (memory == "local") {
      leave_out("Arguments: " + argument.name + ": MemoryType Local exists only in OpenCL");
      return;
    }
    argument.fill = string_in(entry, "FillType");
    argument.fill_value = number_in(entry, {"FillValue", "Value"});
    argument.low = number_in(entry, {"MinValue", "RandomMin"});
    argument.high = number_in(entry, {"MaxValue", "RandomMax"});
    argument.data_source = text_of(find(entry, {"DataSource"}));
    argument.size = size_of(find(entry, {"Size"}), "Arguments: " + argument.name + ": Size", 1);
    found_.arguments.push_back(std::move(argument));
  }

  std::string file_;
  Json json_;
  T1File found_;
};

}  // namespace

T1File read_t1_file(const std::filesystem::path& file) { return T1Reader(file).read(); }

}  // namespace evo
