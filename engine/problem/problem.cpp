#include "engine/problem/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"

namespace evo {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

std::string number_text(double value) { return Json(value).dump(); }

/// Checks a bound of the tolerance: finite and ≥ 0.
double bound(const Expression& expression, const Values& values, double most = kNoLimit) {
  const double value = expression.evaluate(values);
  if (value >= 0 && value <= most) return value;
  throw ProblemError(expression.described(values) + ": this bound is " + number_text(value) +
                     "; allowed: a number ≥ 0" + (most == 1 ? " and ≤ 1" : ""));
}

double scalar_value(const Expression& expression, Dtype dtype, const std::string& name,
                    const Values& values) {
  const double value = expression.evaluate(values);
  if (is_floating(dtype)) {
    if (std::fabs(value) <= largest_finite(dtype)) return value;
  } else {
    // A double cannot represent the largest 64-bit integers, but it can the next power of two.
    const WholeRange range = whole_range(dtype);
    const double beyond = std::ldexp(1.0, static_cast<int>(std::bit_width(range.above)));
    if (value == std::floor(value) && value < beyond &&
        value >= -static_cast<double>(range.below)) {
      return value;
    }
  }
  throw ProblemError(expression.described(values) + ": the value of scalar '" + name + "' is " +
                     number_text(value) + ", which " + std::string(to_string(dtype)) +
                     " cannot hold; allowed: a " +
                     (is_floating(dtype) ? "number" : "whole number") + " within the type's range");
}

/// All *.py files below a folder, except in hidden folders and Python's cache.
void add_python_files(const std::filesystem::path& folder, std::set<std::filesystem::path>& files) {
  namespace fs = std::filesystem;
  constexpr auto kSkip = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(folder, kSkip); at != fs::end(at); ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && (name.starts_with('.') || name == "__pycache__")) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file() && at->path().extension() == ".py") {
      files.insert(at->path());
    }
  }
}

}  // namespace

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::kIn:
      return "in";
    case Direction::kOut:
      return "out";
    case Direction::kInOut:
      return "inout";
    case Direction::kWorkspace:
      return "workspace";
    case Direction::kScalar:
      return "scalar";
  }
  return "unknown";
}

std::size_t Argument::bytes(const Values& values, const Expression& extent) const {
  const double count = extent.evaluate(values);
  if (count < 0 || count != std::floor(count) ||
      count * static_cast<double>(size_of(dtype)) > kMostBytes) {
    throw ProblemError(extent.described(values) + ": the extent of argument '" + name + "' is " +
                       number_text(count) + "; allowed: a whole number of elements, in all at " +
                       "most 1 TiB (2^40 bytes)");
  }
  return static_cast<std::size_t>(count) * size_of(dtype);
}

std::size_t Argument::compared_bytes(const Values& values) const {
  const std::size_t all = bytes(values);
  if (!compared) return all;
  const double count = compared->evaluate(values);
  const std::size_t elements = all / size_of(dtype);
  const bool is_whole = count >= 1 && count == std::floor(count);
  if (!is_whole || count > static_cast<double>(elements)) {
    throw ProblemError(
        fmt::format("{}: argument '{}': {} elements are to be compared; allowed: a whole number "
                    "from 1 to its extent, {}",
                    compared->described(values), name, number_text(count), elements));
  }
  return static_cast<std::size_t>(count) * size_of(dtype);
}

TextureSpec Argument::texture_spec(const Values& values) const {
  const auto texels = [&](const char* key, const Expression& expression) {
    const double value = expression.evaluate(values);
    if (value == std::floor(value) && value >= 1 && value <= kMostBytes) {
      return static_cast<std::size_t>(value);
    }
    throw ProblemError(
        fmt::format("{}: the {} of texture '{}' is {}; allowed: a whole number of texels from 1",
                    expression.described(values), key, name, number_text(value)));
  };
  TextureSpec spec = texture->spec;
  spec.width = texels("width", texture->width);
  if (texture->height) spec.height = texels("height", *texture->height);
  try {
    check_texture(spec, texture_bytes(spec));
  } catch (const InputError& error) {
    throw ProblemError(error.what());
  }
  return spec;
}

std::size_t Argument::row_length(const Values& values) const {
  if (!row) return 0;
  const double length = row->evaluate(values);
  const std::size_t elements = compared_bytes(values) / size_of(dtype);
  const bool whole = length >= 1 && length == std::floor(length);
  if (!whole || std::fmod(static_cast<double>(elements), length) != 0) {
    throw ProblemError(row->described(values) + ": the row of argument '" + name + "' is " +
                       number_text(length) + "; allowed: a whole number that divides its " +
                       std::to_string(elements) + " elements");
  }
  return static_cast<std::size_t>(length);
}

double Argument::scalar(const Values& values) const {
  return scalar_value(size, dtype, name, values);
}

std::size_t Argument::parameter_bytes() const {
  if (direction != Direction::kScalar) return sizeof(std::uint64_t);
  if (fields.empty()) return size_of(dtype);
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  const auto padded = [&](std::size_t to) { return (bytes + to - 1) / to * to; };
  for (const Field& field : fields) {
    alignment = std::max(alignment, size_of(field.dtype));
    bytes = padded(size_of(field.dtype)) + size_of(field.dtype);
  }
  return padded(alignment);
}

std::vector<std::byte> Argument::scalar_bytes(const Values& values) const {
  std::vector<std::byte> bytes;
  if (fields.empty()) {
    bytes.resize(size_of(dtype));
    encode(dtype, scalar(values), bytes.data());
    return bytes;
  }
  std::size_t alignment = 1;
  const auto pad = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
  for (const Field& field : fields) {
    const std::size_t field_bytes = size_of(field.dtype);
    alignment = std::max(alignment, field_bytes);
    pad(field_bytes);
    bytes.resize(bytes.size() + field_bytes);
    encode(field.dtype, scalar_value(field.value, field.dtype, name + "." + field.name, values),
           bytes.data() + bytes.size() - field_bytes);
  }
  pad(alignment);
  return bytes;
}

std::vector<std::pair<std::string, const Expression*>> Argument::scalar_expressions() const {
  if (direction != Direction::kScalar) return {};
  if (fields.empty()) return {{"value", &size}};
  std::vector<std::pair<std::string, const Expression*>> list;
  for (const Field& field : fields) list.emplace_back("fields." + field.name, &field.value);
  return list;
}

Values Reference::macro_values() const {
  Values values;
  for (const auto& [name, value] : macros) {
    const Json number = Json::parse(value, nullptr, false);
    if (number.is_number()) values[name] = number.get<double>();
  }
  return values;
}

namespace {

std::vector<const Expression*> bounds_of(const ToleranceExpressions& tolerance) {
  std::vector<const Expression*> bounds = {&tolerance.max_abs_error, &tolerance.bad_abs_error,
                                           &tolerance.bad_share, &tolerance.relative_l2};
  if (tolerance.max_row_error) bounds.push_back(&*tolerance.max_row_error);
  return bounds;
}

}  // namespace

Tolerance ToleranceExpressions::evaluate(const Values& values) const {
  Tolerance tolerance{bound(max_abs_error, values), bound(bad_abs_error, values),
                      bound(bad_share, values, 1), bound(relative_l2, values, 1)};
  if (max_row_error) tolerance.max_row_error = bound(*max_row_error, values);
  return tolerance;
}

void ToleranceExpressions::check(const Values& known) const {
  for (const Expression* expression : bounds_of(*this)) {
    if (!depends_only_on(*expression, known)) continue;
    const bool is_share = expression == &bad_share || expression == &relative_l2;
    (void)bound(*expression, known, is_share ? 1 : kNoLimit);
  }
}

bool ToleranceExpressions::depend_only_on(const Values& known) const {
  return std::ranges::all_of(bounds_of(*this), [&](const Expression* expression) {
    return depends_only_on(*expression, known);
  });
}

const Shape& Problem::shape(std::string_view shape_name) const {
  std::vector<std::string> known;
  for (const Shape& candidate : shapes) {
    if (candidate.name == shape_name) return candidate;
    known.push_back(candidate.name);
  }
  throw InputError("problem '" + name + "': " + unknown_name("shape", shape_name, known));
}

const KernelSpec& Problem::kernel(std::string_view template_name) const {
  std::string known;
  for (const KernelSpec& candidate : templates) {
    if (candidate.name == template_name) return candidate;
    known += (known.empty() ? "" : ", ") + candidate.name;
  }
  throw InputError("problem '" + name + "' has no template '" + std::string(template_name) +
                   "'; allowed: " + known);
}

std::filesystem::path Problem::data_file(const std::string& key, const std::string& file_name,
                                         const Shape& shape) const {
  constexpr std::string_view kShape = "{shape}";
  std::string own = file_name;
  for (std::size_t at = 0; (at = own.find(kShape, at)) != std::string::npos;) {
    own.replace(at, kShape.size(), shape.name);
    at += shape.name.size();
  }
  const std::string where = (folder / "problem.json").string() + ": " + key + ": ";
  const std::filesystem::path file = folder / own;
  if (!is_file(file)) {
    throw ProblemError(where + "no file '" + own + "' in " + folder.string());
  }
  if (!lies_beside(folder, file)) {
    throw ProblemError(where + "'" + own + "' lies outside of the folder of problems; allowed " +
                       "are files inside");
  }
  return file;
}

std::vector<std::filesystem::path> Problem::data_files() const {
  std::set<std::filesystem::path> files;
  for (const Shape& shape : shapes) {
    for (const Argument& argument : arguments) {
      if (argument.takes_file(shape.name)) {
        files.insert(data_file("arguments: " + argument.name, argument.file, shape));
      }
    }
    for (const auto& [output, file] : reference.files) {
      files.insert(data_file("reference.files." + output, file, shape));
    }
  }
  for (std::size_t i = 0; i < program_files.size(); ++i) {
    for (const Shape& shape : shapes) {
      files.insert(data_file(fmt::format("program_files[{}]", i), program_files[i], shape));
    }
  }
  for (const auto* words : {&reference.program, &check_program}) {
    if (!words->empty()) add_python_files(folder, files);
    for (const std::string& word : *words) {
      std::error_code none;
      const std::filesystem::path file = folder / word;
      if (!std::filesystem::is_regular_file(file, none)) continue;
      files.insert(file);
      if (file.extension() == ".py") add_python_files(file.parent_path(), files);
    }
  }
  return {files.begin(), files.end()};
}

bool lies_beside(const std::filesystem::path& folder, const std::filesystem::path& file) {
  std::filesystem::path own = std::filesystem::absolute(folder).lexically_normal();
  if (!own.has_filename()) own = own.parent_path();  // the path ends with a slash
  const std::filesystem::path root = std::filesystem::canonical(own.parent_path());
  const std::filesystem::path real = std::filesystem::canonical(file);
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

Values Problem::macros_for(const Shape& shape) const {
  Values macros;
  for (const auto& [macro, expression] : shape_macros) {
    macros[macro] = expression.evaluate(shape.variables);
  }
  return macros;
}

Values Problem::values_for(const Shape& shape, int sm_count, const Values& macros) const {
  const Values shape_values = macros_for(shape);
  const Values device_values = {{"SM_COUNT", sm_count}};
  return merged({&macros, &shape.variables, &shape_values, &device_values});
}

namespace {

bool supports(const KernelSpec& kernel, const Shape& shape) {
  return kernel.shapes_where.evaluate(shape.variables) != 0;
}

bool contains(const std::vector<const Shape*>& shapes, const Shape& shape) {
  return std::ranges::find(shapes, &shape) != shapes.end();
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t comma = text.find(',', start);
    parts.push_back(text.substr(start, comma - start));
    if (comma == std::string::npos) return parts;
    start = comma + 1;
  }
}

}  // namespace

std::vector<const Shape*> Problem::checked_shapes(const std::vector<const Shape*>& timed,
                                                  const KernelSpec& kernel) const {
  for (const Shape* shape : timed) {
    if (supports(kernel, *shape)) continue;
    throw InputError("template '" + kernel.name + "' of problem '" + name +
                     "' does not support shape '" + shape->name + "': it needs " +
                     kernel.shapes_where.text());
  }
  const Values macros = macros_for(*timed.front());
  std::vector<const Shape*> checked = timed;
  for (const Shape& candidate : shapes) {
    if (candidate.check && !contains(timed, candidate) && macros_for(candidate) == macros &&
        supports(kernel, candidate)) {
      checked.push_back(&candidate);
    }
  }
  return checked;
}

std::vector<const Shape*> Problem::select_shapes(const std::string& names,
                                                 const KernelSpec& kernel) const {
  constexpr std::string_view kTag = "tag:";
  std::vector<const Shape*> selected;
  const auto add_where = [&](const auto& is_meant) {
    for (const Shape& candidate : shapes) {
      if (is_meant(candidate) && !contains(selected, candidate)) selected.push_back(&candidate);
    }
  };
  if (names == "all") {
    const auto first = std::ranges::find_if(
        shapes, [&](const Shape& candidate) { return supports(kernel, candidate); });
    if (first == shapes.end()) return {};
    add_where([&](const Shape& candidate) {
      return supports(kernel, candidate) && macros_for(candidate) == macros_for(*first);
    });
    return selected;
  }
  for (const std::string& part : split_at_commas(names)) {
    if (!part.starts_with(kTag)) {
      const Shape& named = shape(part);
      if (!contains(selected, named)) selected.push_back(&named);
      continue;
    }
    const std::string tag = part.substr(kTag.size());
    const std::size_t before = selected.size();
    add_where([&](const Shape& candidate) {
      return std::ranges::find(candidate.tags, tag) != candidate.tags.end();
    });
    if (selected.size() == before) {
      std::set<std::string> known;
      for (const Shape& one : shapes) known.insert(one.tags.begin(), one.tags.end());
      throw InputError("no further shape of problem '" + name + "' has the tag '" + tag + "'" +
                       did_you_mean(tag, {known.begin(), known.end()}) + "; tags: " +
                       (known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
  }
  return selected;
}

bool depends_only_on(const Expression& expression, const Values& values) {
  return std::ranges::all_of(expression.variables(),
                             [&](const std::string& name) { return values.contains(name); });
}

Values merged(std::initializer_list<const Values*> parts) {
  Values all;
  for (const Values* part : parts) {
    for (const auto& [name, value] : *part) all[name] = value;
  }
  return all;
}

}  // namespace evo
