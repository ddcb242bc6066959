#include <nlohmann/json.hpp>

#include "engine/core/placeholder.hpp"
#include "engine/intake/draft.hpp"
#include "engine/intake/reference_stub.hpp"
#include "engine/problem/dtype.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;
using Kind = DraftArgument::Kind;

/// Writes `json` on one line, with spaces between entries.
std::string line(const Ordered& json) {
  std::string text;
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      text.append(text.empty() ? "" : ", ").append(Ordered(key).dump() + ": " + line(value));
    }
    return "{" + text + "}";
  }
  if (json.is_array()) {
    for (const Ordered& value : json) text.append(text.empty() ? "" : ", ").append(line(value));
    return "[" + text + "]";
  }
  return json.dump();
}

/// A JSON number if `text` is a number; otherwise, a JSON string.
Ordered expression(const std::string& text) {
  const Ordered number = Ordered::parse(text, nullptr, false);
  if (number.is_number()) return number;
  return text;
}

Ordered expressions(const std::vector<std::string>& texts) {
  Ordered list = Ordered::array();
  for (const std::string& text : texts) list.push_back(expression(text));
  return list;
}

std::string joined_lines(const std::vector<std::string>& lines, const std::string& indent) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += indent + lines[i] + (i + 1 < lines.size() ? ",\n" : "\n");
  }
  return text;
}

const char* direction(Kind kind) {
  switch (kind) {
    case Kind::kOut:
      return "out";
    case Kind::kInOut:
      return "inout";
    case Kind::kScalar:
      return "scalar";
    case Kind::kWorkspace:
      return "workspace";
    default:
      return "in";
  }
}

/// The generator as JSON, with its keys in the order that problem files usually have.
Ordered generator(const Json& unordered) {
  if (!unordered.is_object()) return Ordered::parse(unordered.dump());
  Ordered json = Ordered::object();
  for (const char* key : {"distribution", "mean", "std", "low", "high", "value"}) {
    if (unordered.contains(key)) json[key] = Ordered::parse(unordered.at(key).dump());
  }
  return json;
}

Ordered tensor_map_json(const DraftArgument& argument) {
  const auto list = [](const char* what) { return Ordered::array({todo(what)}); };
  return {{"name", argument.name},
          {"direction", "tensor_map"},
          {"of", todo("name of the buffer")},
          {"dims", list("elements of each dimension, the innermost first")},
          {"box", list("elements of the box along each dimension")},
          {"swizzle", todo("0, 32, 64 or 128")}};
}

Ordered argument_json(const DraftArgument& argument) {
  if (argument.kind == Kind::kTensorMap) return tensor_map_json(argument);
  Ordered json = {{"name", argument.name}};
  if (argument.kind == Kind::kConstant) {
    json["name"] = argument.name.substr(argument.name.rfind(':') + 1);
    json["kind"] = "constant";
    json["symbol"] = argument.name;
  } else if (argument.kind == Kind::kTexture) {
    json["kind"] = "texture";
  } else {
    json["direction"] = direction(argument.kind);
  }
  json["dtype"] = argument.dtype;
  if (argument.kind == Kind::kTexture) {
    json["channels"] = todo("1, 2 or 4");
    json["width"] = todo("texels of a row");
    if (argument.dimensions > 1) json["height"] = todo("rows");
    json["filter"] = todo("\"point\" or \"linear\"");
    json["generator"] = generator(argument.generator);
    return json;
  }
  if (argument.kind == Kind::kScalar) {
    json["value"] = expression(argument.value);
  } else {
    json["extent"] = expression(argument.extent);
  }
  if (argument.is_read()) {
    const Json& how = argument.generator;
    if (how.is_object() && how.contains("formula")) {
      json["generator"] = Ordered::parse(how.dump());
    } else {
      json["generator"] = generator(how);
    }
  }
  if (!argument.is_compared) json["compare"] = false;
  return json;
}

/// The row of dtypes.def for the type of the least precise compared output; null if no compared
/// output has a floating type.
const DtypeRow* least_exact(const Draft& draft) {
  const DtypeRow* least = nullptr;
  for (const DraftArgument& argument : draft.arguments) {
    if (!argument.is_written() || !argument.is_compared) continue;
    for (const DtypeRow& row : dtype_rows()) {
      if (row.name != argument.dtype || row.kind != NumberKind::kFloat) continue;
      if (least == nullptr || row.max_abs_error > least->max_abs_error) least = &row;
    }
  }
  return least;
}

Ordered tolerance(const Draft& draft) {
  const DtypeRow* bounds = least_exact(draft);
  const auto number = [](double value) { return value == 0 ? Ordered(0) : Ordered(value); };
  const Ordered element = !draft.max_abs_error.empty() ? expression(draft.max_abs_error)
                                                       : number(bounds ? bounds->max_abs_error : 0);
  return {{"max_abs_error", element},
          {"bad_abs_error", element},
          {"bad_share", 0},
          {"relative_l2", number(bounds ? bounds->relative_l2 : 0)}};
}

/// The comment before the tolerance in problem.json; empty if the user gave max_abs_error, or if no
/// compared output has a floating type.
std::string reason_of_tolerance(const Draft& draft) {
  const DtypeRow* bounds = least_exact(draft);
  if (bounds == nullptr || !draft.max_abs_error.empty()) return {};
  return "  // assumed: some tens of rounding errors of " + std::string(bounds->name) +
         ", for values up to a few hundred; a sum of many elements needs more\n";
}

Ordered settings(const Draft& draft) {
  Ordered set = Ordered::object();
  for (const DraftParameter& parameter : draft.parameters) {
    set[parameter.macro] = Ordered::parse(parameter.default_value.dump());
  }
  return set;
}

Ordered reference(const Draft& draft) {
  const DraftReference& from = draft.reference;
  if (from.kind == DraftReference::Kind::kProgram)
    return {{"program", {"python3", "reference.py"}}};
  if (from.kind == DraftReference::Kind::kDefaults) return {{"set", settings(draft)}};
  Ordered json = {{"source", draft.kernel_file},
                  {"entry", from.entry},
                  {"grid", expressions(from.grid)},
                  {"block", expressions(from.block)}};
  if (!from.dynamic_shared_bytes.empty()) {
    json["dynamic_shared_bytes"] = expression(from.dynamic_shared_bytes);
  }
  if (!draft.parameters.empty()) json["macros"] = settings(draft);
  return json;
}

std::string shapes_text(const Draft& draft) {
  Ordered variables = Ordered::object();
  for (const auto& [name, value] : draft.variables) variables[name] = expression(value);
  const auto shape = [](const std::string& name, const Ordered& sizes) {
    return Ordered(name).dump() + ": {\"variables\": " + line(sizes) + ", \"check\": true}";
  };
  std::vector<std::string> shapes = {shape("default", variables)};
  for (const DraftShape& more : draft.more_shapes) {
    for (std::size_t i = 0; i < more.values.size(); ++i) {
      variables[draft.variables[i].first] = expression(more.values[i]);
    }
    shapes.push_back(shape(more.name, variables));
  }
  return "  \"shapes\": {\n" + joined_lines(shapes, "    ") + "  },\n";
}

/// The key "steps" of a template with several kernels.
std::string steps_text(const Draft& draft) {
  const auto step = [](const DraftStep& one) {
    Ordered json = {
        {"entry", one.entry}, {"grid", expressions(one.grid)}, {"block", expressions(one.block)}};
    if (one.dynamic_shared_bytes != "0") {
      json["dynamic_shared_bytes"] = expression(one.dynamic_shared_bytes);
    }
    json["arguments"] = one.arguments;
    return line(json);
  };
  std::vector<std::string> steps = {step(
      {draft.entry, draft.step_arguments, draft.grid, draft.block, draft.dynamic_shared_bytes})};
  for (const DraftStep& one : draft.later_steps) steps.push_back(step(one));
  return "\"steps\": [\n" + joined_lines(steps, "        ") + "      ]";
}

std::string template_text(const Draft& draft) {
  std::string text;
  const bool has_steps = !draft.later_steps.empty();
  if (!draft.dependence.empty() && !has_steps)
    text += "      // CTAs may depend on each other: " + draft.dependence + "\n";
  std::vector<std::string> keys = {"\"source\": " + Ordered(draft.kernel_file).dump()};
  if (has_steps) {
    keys.push_back(steps_text(draft));
  } else {
    keys.front() += ", \"entry\": " + Ordered(draft.entry).dump();
    keys.push_back("\"grid\": " + line(expressions(draft.grid)));
    keys.push_back("\"block\": " + line(expressions(draft.block)));
    keys.push_back("\"dynamic_shared_bytes\": " + line(expression(draft.dynamic_shared_bytes)));
    keys.push_back(std::string("\"independent_ctas\": ") +
                   (draft.has_independent_ctas ? "1" : "0"));
  }
  if (!draft.is_deterministic) keys.emplace_back("\"deterministic\": false");
  return text + joined_lines(keys, "      ");
}

std::string problem_text(const Draft& draft) {
  std::vector<std::string> arguments;
  for (const DraftArgument& argument : draft.arguments) {
    arguments.push_back(line(argument_json(argument)));
  }
  const auto key = [](const char* name, const Ordered& value) {
    return "  " + Ordered(name).dump() + ": " + line(value) + ",\n";
  };
  std::string text = "{\n" + key("format", "evo-tune problem 1") + key("name", draft.name) +
                     key("description", draft.entry + " of " + draft.kernel_file);
  text += "  \"arguments\": [\n" + joined_lines(arguments, "    ") + "  ],\n";
  text += shapes_text(draft);
  text += reason_of_tolerance(draft) + key("tolerance", tolerance(draft));
  if (draft.flops == kUnknownFlops) {
    text += "  // the number of operations per launch was not given, so TFLOP/s are meaningless\n";
  }
  text += key("flops", expression(draft.flops));
  text += key("reference", reference(draft));
  text += "  \"templates\": {\n    " + Ordered(draft.name).dump() + ": {\n" + template_text(draft);
  return text + "    }\n  }\n}\n";
}

std::string space_text(const Draft& draft) {
  std::vector<std::string> parameters;
  for (const DraftParameter& parameter : draft.parameters) {
    Ordered json = {{"macro", parameter.macro}};
    if (parameter.values.empty()) {
      json["values"] = todo("list of the values of " + parameter.macro);
    } else {
      json["values"] = Ordered::parse(Json(parameter.values).dump());
      json["default"] = Ordered::parse(parameter.default_value.dump());
    }
    parameters.push_back(line(json));
  }
  if (parameters.empty()) {
    parameters.push_back(
        line(todo("a macro of the source with its values: {'macro': 'TILE', "
                  "'values': [1, 2]}; the source depends on no macro")));
  }
  std::vector<std::string> keys;
  const auto key = [&](const char* name, const Ordered& value) {
    keys.push_back(Ordered(name).dump() + ": " + line(value));
  };
  key("format", "evo-tune space 1");
  key("name", draft.name);
  key("description", draft.entry + " of " + draft.kernel_file);
  key("problem", draft.name);
  key("template", draft.name);
  key("arch", draft.arch);
  key("shape", "default");
  keys.push_back("\"parameters\": [\n" + joined_lines(parameters, "    ") + "  ]");
  if (!draft.fixed.empty()) {
    Ordered let = Ordered::object();
    for (const auto& [name, value] : draft.fixed) let[name] = expression(value);
    key("let", let);
  }
  if (!draft.constraints.empty()) {
    std::vector<std::string> constraints;
    for (const std::string& constraint : draft.constraints) {
      constraints.push_back(line({{"expression", constraint}}));
    }
    keys.push_back("\"constraints\": [\n" + joined_lines(constraints, "    ") + "  ]");
  }
  if (!draft.compiler_options.empty()) key("compiler_options", draft.compiler_options);
  return "{\n" + joined_lines(keys, "  ") + "}\n";
}

}  // namespace

std::string todo(const std::string& what) { return std::string(kPlaceholder) + ": " + what; }
bool is_todo(const std::string& text) { return text.starts_with(kPlaceholder); }

std::vector<DraftFile> rendered(const Draft& draft) {
  const std::string folder = "kernel_templates/" + draft.name + "/";
  std::vector<DraftFile> files = {{folder + "problem.json", problem_text(draft)}};
  if (draft.reference.kind == DraftReference::Kind::kProgram) {
    files.push_back({folder + "reference.py", reference_stub(draft)});
  }
  files.push_back({"search_spaces/" + draft.name + ".json", space_text(draft)});
  return files;
}

}  // namespace evo
