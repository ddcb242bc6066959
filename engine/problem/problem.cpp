#include "engine/problem/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"

namespace evo {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Evaluates a bound of the tolerance. Throws ProblemError unless the bound is from 0 to `most`.
double bound(const Expression& expression, const Values& values, double most = kNoLimit) {
  const double value = expression.evaluate(values);
  if (value >= 0 && value <= most) return value;
  throw ProblemError(expression.described(values) + ": this bound is " + Json(value).dump() +
                     "; allowed: a number ≥ 0" + (most == 1 ? " and ≤ 1" : ""));
}

/// Adds to `files` all *.py files below a folder, except in hidden folders and Python's cache.
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
    throw ProblemError(where + "'" + own + "' is " + std::filesystem::canonical(file).string() +
                       "; allowed: files inside " + folder_of_problems(folder).string());
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

std::filesystem::path folder_of_problems(const std::filesystem::path& folder) {
  std::filesystem::path own = std::filesystem::absolute(folder).lexically_normal();
  if (!own.has_filename()) own = own.parent_path();  // `folder` ends with a slash
  return std::filesystem::canonical(own.parent_path());
}

bool lies_beside(const std::filesystem::path& folder, const std::filesystem::path& file) {
  const std::filesystem::path root = folder_of_problems(folder);
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
                     "' does not support shape '" + shape->name + "': allowed: shapes with " +
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
    add_where([&](const Shape& candidate) { return supports(kernel, candidate); });
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
