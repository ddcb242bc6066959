// Reading problem.json; the format is described in docs/file-formats.md.

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/problem/problem.hpp"

namespace evo {
namespace {

constexpr std::string_view kFormat = "evo-tune problem 1";
constexpr std::string_view kReference = "reference";

Expression parse_expression(const JsonReader& reader, std::string_view key,
                            const std::string& fallback = {}) {
  const std::string text =
      fallback.empty() ? reader.expression(key) : reader.expression_or(key, fallback);
  try {
    return Expression(text);
  } catch (const InputError& error) {
    reader.fail(key, error.what());
  }
}

Generator parse_generator(const JsonReader& reader) {
  Generator generator;
  const std::string kind =
      reader.one_of("distribution", {"normal", "uniform", "integers", "constant"});
  if (kind == "normal") {
    generator = {Distribution::kNormal, reader.number_or("mean", 0), reader.number_or("std", 1)};
  } else if (kind == "constant") {
    generator = {Distribution::kConstant, reader.number("value"), 0};
  } else {
    generator = {kind == "uniform" ? Distribution::kUniform : Distribution::kIntegers,
                 reader.number("low"), reader.number("high")};
    if (generator.second < generator.first) reader.fail("high", "allowed is at least low");
  }
  reader.finish();
  return generator;
}

Direction parse_direction(const JsonReader& reader) {
  const std::string text =
      reader.one_of("direction", {"in", "out", "inout", "workspace", "scalar"});
  for (const Direction direction : {Direction::kIn, Direction::kOut, Direction::kInOut,
                                    Direction::kWorkspace, Direction::kScalar}) {
    if (to_string(direction) == text) return direction;
  }
  return Direction::kIn;
}

Argument parse_argument(const JsonReader& reader) {
  const std::string name = reader.string("name");
  const Direction direction = parse_direction(reader);
  Dtype dtype = Dtype::kF32;
  try {
    dtype = dtype_from_string(reader.string("dtype"));
  } catch (const InputError& error) {
    reader.fail("dtype", error.what());
  }
  const bool scalar = direction == Direction::kScalar;
  // A workspace that no template asks for is empty.
  const std::string nothing = direction == Direction::kWorkspace ? "0" : "";
  Argument argument{
      name, direction, dtype, parse_expression(reader, scalar ? "value" : "extent", nothing), {}};
  if (direction == Direction::kIn || direction == Direction::kInOut) {
    if (reader.has("generator")) {
      argument.generator = parse_generator(reader.child("generator"));
    } else {
      reader.fail("generator", "an argument that is read needs a generator");
    }
  }
  if (direction == Direction::kOut || direction == Direction::kInOut) {
    if (reader.has("row")) argument.row = parse_expression(reader, "row");
    argument.degenerate = reader.boolean_or("degenerate", false);
  }
  if (scalar && size_of(dtype) < 4) {
    reader.fail("dtype", "allowed for a scalar: f32, f64, i32, u32, i64, u64");
  }
  reader.finish();
  return argument;
}

std::vector<Shape> parse_shapes(const JsonReader& reader) {
  std::vector<Shape> shapes;
  for (const auto& [name, unused] : reader.object("shapes").items()) {
    const JsonReader entry = reader.child("shapes").child(name);
    Shape shape;
    shape.name = name;
    shape.check = entry.boolean_or("check", false);
    const JsonReader variables = entry.child("variables");
    for (const auto& [variable, value] : entry.object("variables").items()) {
      shape.variables[variable] = variables.number(variable);
    }
    entry.finish();
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty()) reader.fail("shapes", "allowed is at least one shape");
  return shapes;
}

std::vector<Expression> parse_dimensions(const JsonReader& reader, std::string_view key) {
  const Json& list = reader.array(key);
  if (list.empty() || list.size() > 3) reader.fail(key, "allowed are one to three dimensions");
  std::vector<Expression> dimensions;
  for (const Json& entry : list) {
    const Json wrapped = {{std::string(key), entry}};
    const JsonReader element(wrapped, reader.where());
    dimensions.push_back(parse_expression(element, key));
  }
  return dimensions;
}

ToleranceExpressions parse_tolerance(const JsonReader& reader, const JsonReader* base) {
  const auto bound = [&](std::string_view key) {
    return base == nullptr ? parse_expression(reader, key)
                           : parse_expression(reader, key, base->expression(key));
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

KernelSpec parse_kernel(const JsonReader& reader, const std::string& name,
                        const JsonReader& tolerance, const std::filesystem::path& folder) {
  static const Json nothing = Json::object();
  const JsonReader own =
      reader.has("tolerance") ? reader.child("tolerance") : JsonReader(nothing, reader.where());
  KernelSpec kernel{name,
                    folder / reader.string("source"),
                    reader.string("entry"),
                    {parse_dimensions(reader, "grid"), parse_dimensions(reader, "block"),
                     parse_expression(reader, "dynamic_shared_bytes", "0")},
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
  if (!std::filesystem::is_regular_file(kernel.source)) {
    reader.fail("source", "no such file in " + folder.string());
  }
  return kernel;
}

std::vector<KernelSpec> parse_templates(const JsonReader& reader,
                                        const std::filesystem::path& folder) {
  std::vector<KernelSpec> kernels;
  const JsonReader list = reader.child("templates");
  for (const auto& [name, unused] : reader.object("templates").items()) {
    kernels.push_back(parse_kernel(list.child(name), name, reader.child("tolerance"), folder));
  }
  if (kernels.empty()) reader.fail("templates", "allowed is at least one template");
  return kernels;
}

/// What depends on the shape alone must evaluate on every shape: catches misspelt names on loading.
void require_evaluable(const Problem& problem, const std::string& file) {
  for (const Shape& shape : problem.shapes) {
    try {
      (void)problem.flops.evaluate(shape.variables);
      (void)problem.bytes.evaluate(shape.variables);
      (void)problem.macros_for(shape);
      for (const KernelSpec& kernel : problem.templates) {
        (void)kernel.shapes_where.evaluate(shape.variables);
      }
      for (const Argument& argument : problem.arguments) {
        if (argument.direction == Direction::kScalar) {
          (void)argument.size.evaluate(shape.variables);
        } else if (argument.direction != Direction::kWorkspace) {
          (void)argument.bytes(shape.variables);
          (void)argument.row_length(shape.variables);
        }
      }
    } catch (const InputError& error) {
      throw ProblemError(file + ": shapes." + shape.name + ": " + error.what());
    }
  }
}

/// A bound on rows that no argument has would never fail.
void require_rows(const Problem& problem, const JsonReader& reader) {
  const auto bounds_rows = [](const KernelSpec& kernel) {
    return kernel.tolerance.max_row_error.has_value();
  };
  if (std::ranges::none_of(problem.templates, bounds_rows)) return;
  const auto has_rows = [](const Argument& argument) { return argument.row.has_value(); };
  if (std::ranges::any_of(problem.arguments, has_rows)) return;
  reader.fail("tolerance", "max_row_error needs an out or inout argument with \"row\"");
}

/// An extent for an argument that is no workspace would be ignored.
void require_workspaces(const Problem& problem, const JsonReader& templates) {
  for (const KernelSpec& kernel : problem.templates) {
    for (const auto& [name, unused] : kernel.workspace) {
      std::string known;
      bool found = false;
      for (const Argument& argument : problem.arguments) {
        if (argument.direction != Direction::kWorkspace) continue;
        found = found || argument.name == name;
        known += (known.empty() ? "" : ", ") + argument.name;
      }
      if (found) continue;
      templates.child(kernel.name)
          .child("workspace")
          .fail(name, "allowed are the names of workspace arguments: " +
                          (known.empty() ? "there are none" : known));
    }
  }
}

}  // namespace

Problem Problem::load(const std::filesystem::path& folder) {
  return parse(read_text_file(folder / "problem.json"), std::filesystem::absolute(folder));
}

Problem Problem::parse(const std::string& text, const std::filesystem::path& folder) {
  const std::string file = (folder / "problem.json").string();
  const Json json = parse_json(text, file);
  const JsonReader reader(json, file);
  (void)reader.one_of("format", {kFormat});
  const std::string name = reader.string("name");
  const std::string description = reader.string_or("description", "");
  std::vector<Argument> arguments;
  bool has_output = false;
  for (const JsonReader& entry : reader.children("arguments")) {
    arguments.push_back(parse_argument(entry));
    const Direction direction = arguments.back().direction;
    has_output |= direction == Direction::kOut || direction == Direction::kInOut;
  }
  if (!has_output) reader.fail("arguments", "allowed is a list with at least one out or inout");
  std::vector<std::pair<std::string, Expression>> macros;
  if (reader.has("macros")) {
    for (const auto& [macro, unused] : reader.object("macros").items()) {
      macros.emplace_back(macro, parse_expression(reader.child("macros"), macro));
    }
  }
  Problem problem{name,
                  description,
                  std::move(arguments),
                  parse_shapes(reader),
                  std::move(macros),
                  parse_expression(reader, "flops"),
                  parse_expression(reader, "bytes"),
                  parse_kernel(reader.child("reference"), std::string(kReference),
                               reader.child("tolerance"), folder),
                  parse_templates(reader, folder),
                  folder,
                  text};
  reader.finish();
  require_rows(problem, reader);
  require_workspaces(problem, reader.child("templates"));
  require_evaluable(problem, file);
  return problem;
}

}  // namespace evo
