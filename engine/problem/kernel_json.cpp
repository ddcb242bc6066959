// Reads the kernels of problem.json: the reference kernel and the templates.

#include "engine/problem/kernel_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/names.hpp"
#include "engine/problem/argument_json.hpp"

namespace evo {
namespace {

constexpr std::size_t kMostSteps = 32;
constexpr std::size_t kDimensions = 3;
/// limit of the number of names in "arguments" of a step
constexpr std::size_t kMostParameters = 1000;

ToleranceExpressions parse_tolerance(const JsonReader& reader, const JsonReader* base) {
  const auto bound = [&](std::string_view key) {
    return base == nullptr || reader.has(key) ? parse_expression(reader, key)
                                              : parse_expression(*base, key);
  };
  ToleranceExpressions tolerance{bound("max_abs_error"), bound("bad_abs_error"), bound("bad_share"),
                                 bound("relative_l2")};
  if (reader.has("max_row_error")) {
    tolerance.max_row_error = parse_expression(reader, "max_row_error");
  } else if (base != nullptr && base->has("max_row_error")) {
    tolerance.max_row_error = parse_expression(*base, "max_row_error");
  }
  reader.finish();
  return tolerance;
}

std::map<std::string, Expression> parse_workspace(const JsonReader& reader) {
  std::map<std::string, Expression> extents;
  if (!reader.has("workspace")) return extents;
  const JsonReader entry = reader.child("workspace");
  for (const auto& [name, unused] : reader.object("workspace").items()) {
    extents.emplace(name, parse_expression(entry, name));
  }
  return extents;
}

/// Reads "source". After ".." and links are resolved, the file must lie below the parent of the
/// problem's folder.
std::filesystem::path parse_source(const JsonReader& reader, const std::filesystem::path& folder) {
  const std::filesystem::path source = folder / reader.string("source");
  if (!is_file(source)) {
    reader.fail("source", "no such file in " + folder.string());
  }
  if (!lies_beside(folder, source)) {
    reader.fail("source", "is " + std::filesystem::canonical(source).string() +
                              "; allowed: files inside " + folder_of_problems(folder).string());
  }
  return source;
}

std::string parse_entry(const JsonReader& reader) {
  std::string entry = reader.string("entry");
  if (!may_name_kernel(entry)) {
    reader.fail("entry",
                "allowed: the name of a kernel: kernel, ns::kernel, kernel<float, TILE_N>");
  }
  return entry;
}

/// Reads "entry", "grid", "block" and "dynamic_shared_bytes" of a kernel or of one of its steps.
KernelStep parse_step(const JsonReader& reader) {
  return {parse_entry(reader),
          {parse_expressions(reader, "grid", kDimensions),
           parse_expressions(reader, "block", kDimensions),
           parse_expression(reader, "dynamic_shared_bytes", "0")}};
}

std::vector<std::size_t> parse_arguments(const JsonReader& reader,
                                         const std::vector<std::string>& parameters) {
  std::vector<std::size_t> positions;
  for (const std::string& name : reader.strings("arguments", kMostParameters)) {
    const auto named = std::ranges::find(parameters, name);
    if (named == parameters.end()) {
      reader.fail("arguments", fmt::format("'{}' cannot be an argument of a step; allowed: {}",
                                           name, fmt::join(parameters, ", ")));
    }
    positions.push_back(static_cast<std::size_t>(named - parameters.begin()));
  }
  return positions;
}

std::vector<KernelStep> parse_steps(const JsonReader& reader,
                                    const std::vector<std::string>& parameters) {
  std::vector<KernelStep> steps;
  if (!reader.has("steps")) {
    steps.push_back(parse_step(reader));
    if (reader.has("arguments")) steps.back().arguments = parse_arguments(reader, parameters);
    return steps;
  }
  for (const char* key : {"entry", "grid", "block", "dynamic_shared_bytes", "arguments"}) {
    if (!reader.has(key)) continue;
    reader.fail(key, "cannot be combined with \"steps\"; give it in each step instead");
  }
  for (const JsonReader& entry : reader.children("steps", kMostSteps)) {
    KernelStep step = parse_step(entry);
    if (entry.has("arguments")) step.arguments = parse_arguments(entry, parameters);
    if (entry.has("when")) step.when = parse_expression(entry, "when");
    entry.finish();
    steps.push_back(std::move(step));
  }
  if (steps.empty()) reader.fail("steps", "allowed: at least one step");
  return steps;
}

}  // namespace

KernelSpec parse_kernel(const JsonReader& reader, const std::string& name,
                        const JsonReader& tolerance, const std::filesystem::path& folder,
                        const std::vector<std::string>& parameters) {
  static const Json nothing = Json::object();
  const JsonReader own =
      reader.has("tolerance") ? reader.child("tolerance") : JsonReader(nothing, reader.where());
  KernelSpec kernel{name,
                    parse_source(reader, folder),
                    parse_steps(reader, parameters),
                    parse_tolerance(own, &tolerance),
                    reader.boolean_or("deterministic", true),
                    parse_expression(reader, "shapes_where", "1"),
                    parse_expression(reader, "independent_ctas", "0"),
                    std::nullopt,
                    parse_workspace(reader)};
  if (name == kReference && reader.has("cta_of_row")) {
    kernel.cta_of_row = parse_expression(reader, "cta_of_row");
  }
  reader.finish();
  return kernel;
}

}  // namespace evo
