#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/unfinished.hpp"
#include "engine/intake/draft.hpp"
#include "engine/intake/reference_stub.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;
using Kind = DraftArgument::Kind;

/// On one line, with blanks between entries.
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

/// A number where the text is one.
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

const char* direction(Kind kind) {
  switch (kind) {
    case Kind::kOut:
      return "out";
    case Kind::kInOut:
      return "inout";
    case Kind::kScalar:
      return "scalar";
    default:
      return "in";
  }
}

/// In the order in which people write it.
Ordered generator(const Json& unordered) {
  if (!unordered.is_object()) return Ordered::parse(unordered.dump());
  Ordered json = Ordered::object();
  for (const char* key : {"distribution", "mean", "std", "low", "high", "value"}) {
    if (unordered.contains(key)) json[key] = Ordered::parse(unordered.at(key).dump());
  }
  return json;
}

Ordered argument_json(const DraftArgument& argument) {
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
  if (argument.is_read()) json["generator"] = generator(argument.generator);
  return json;
}

Ordered tolerance(const Draft& draft) {
  const bool is_exact =
      std::all_of(draft.arguments.begin(), draft.arguments.end(), [](const auto& argument) {
        const char first = argument.dtype.empty() ? 'f' : argument.dtype[0];
        return !argument.is_written() || first == 'i' || first == 'u';
      });
  if (is_exact) {
    return {{"max_abs_error", 0}, {"bad_abs_error", 0}, {"bad_share", 0}, {"relative_l2", 0}};
  }
  return {{"max_abs_error", todo("largest error of an element")},
          {"bad_abs_error", todo("errors above this count as bad")},
          {"bad_share", 0},
          {"relative_l2", todo("largest |out - ref| / |ref| over all elements")}};
}

std::string joined_lines(const std::vector<std::string>& lines, const std::string& indent) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += indent + lines[i] + (i + 1 < lines.size() ? ",\n" : "\n");
  }
  return text;
}

std::string problem_text(const Draft& draft) {
  std::vector<std::string> arguments;
  for (const DraftArgument& argument : draft.arguments) {
    arguments.push_back(line(argument_json(argument)));
  }
  Ordered variables = Ordered::object();
  for (const auto& [name, value] : draft.variables) variables[name] = expression(value);
  const auto key = [](const char* name, const Ordered& value) {
    return "  " + Ordered(name).dump() + ": " + line(value) + ",\n";
  };
  std::string text = "{\n" + key("format", "evo-tune problem 1") + key("name", draft.name) +
                     key("description", draft.entry + " of " + draft.kernel_file);
  text += "  \"arguments\": [\n" + joined_lines(arguments, "    ") + "  ],\n";
  text += "  \"shapes\": {\n    \"default\": {\"variables\": " + line(variables) +
          ", \"check\": true}\n  },\n";
  text += key("tolerance", tolerance(draft));
  text += key("flops", todo("operations of one launch, such as 2*N"));
  text += key("reference", {{"program", {"python3", "reference.py"}}});
  text += "  \"templates\": {\n    " + Ordered(draft.name).dump() + ": {\n";
  if (!draft.dependence.empty())
    text += "      // CTAs depend on each other: " + draft.dependence + "\n";
  text += joined_lines(
      {"\"source\": " + Ordered(draft.kernel_file).dump() +
           ", \"entry\": " + Ordered(draft.entry).dump(),
       "\"grid\": " + line(expressions(draft.grid)), "\"block\": " + line(expressions(draft.block)),
       "\"dynamic_shared_bytes\": " + line(expression(draft.dynamic_shared_bytes)),
       std::string("\"independent_ctas\": ") + (draft.has_independent_ctas ? "1" : "0")},
      "      ");
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
                  "'values': [1, 2]}; the source depends on none")));
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

std::string todo(const std::string& what) { return std::string(kUnfinished) + ": " + what; }
bool is_todo(const std::string& text) { return text.starts_with(kUnfinished); }

std::vector<DraftFile> rendered(const Draft& draft) {
  const std::string folder = "kernel_templates/" + draft.name + "/";
  return {{folder + "problem.json", problem_text(draft)},
          {folder + "reference.py", reference_stub(draft)},
          {"search_spaces/" + draft.name + ".json", space_text(draft)}};
}

}  // namespace evo
