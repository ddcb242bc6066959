// Drafts the arguments of a problem: types, directions, extents, generators.

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/names.hpp"
#include "engine/intake/element_type.hpp"
#include "engine/intake/intake.hpp"
#include "engine/problem/dtype.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

constexpr std::string_view kUnnamed = "(anonymous namespace)::";

/// The parameter types of a kernel. `symbol`: the mangled symbol of the kernel, or of a function
/// with a parameter that points to the kernel (Trial::signature). Returns an empty list for an
/// unmangled symbol.
std::vector<std::string> types_of(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (!text) return {};
  std::string name = text.get();
  if (name.ends_with("))")) name.pop_back();
  if (!name.ends_with(')')) return {};
  // Searches backwards for the bracket that opens the parameter list, because types such as "float
  // (*) [4]" contain brackets.
  std::size_t open = name.size() - 1;
  for (int depth = 1; depth > 0 && open > 0;) {
    --open;
    depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
  }
  std::vector<std::string> types;
  std::string type;
  int depth = 0;
  for (const char c : name.substr(open + 1, name.size() - open - 2)) {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      types.push_back(std::move(type));
      type.clear();
    } else if (c != ' ' || !type.empty()) {
      type += c;
    }
  }
  if (!type.empty()) types.push_back(std::move(type));
  return types;
}

std::string use_of(const ParameterUse& parameter, bool is_pointer) {
  if (!parameter.is_used) return std::string(kNeverUsed);
  if (!is_pointer) return "read";
  if (parameter.is_loaded && parameter.is_stored) return "loaded and stored";
  if (parameter.is_stored) return "stored";
  return parameter.is_loaded ? "loaded" : "the memory that it points to is not accessed";
}

Kind kind_of(const ParameterUse& parameter, bool is_pointer) {
  if (!is_pointer) return Kind::kScalar;
  if (parameter.is_stored) return parameter.is_loaded ? Kind::kInOut : Kind::kOut;
  return Kind::kIn;
}

/// A number as JSON, without a decimal point if it is whole.
Json number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 0x1.0p53) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json default_generator(const DraftArgument& argument) {
  if (argument.use == kNeverUsed) return {{"distribution", "constant"}, {"value", 0}};
  if (is_integer_type(argument.dtype)) {
    return todo("generator of " + argument.name +
                ", such as {\"distribution\": \"integers\", \"low\": 0, \"high\": 9}");
  }
  return {{"distribution", "normal"}, {"mean", 0}, {"std", 1}};
}

class Arguments {
 public:
  Arguments(const T1File& t1, const std::set<std::string>& enumerations, Draft& draft)
      : t1_(t1), enumerations_(enumerations), draft_(draft) {}

  void take_parameters(const Trial& trial, const DeclaredKernel* declared) {
    const std::vector<std::string> types =
        types_of(trial.signature.empty() ? trial.symbol : trial.signature);
    const std::size_t count = trial.facts.parameters.size();
    const bool has_names = declared != nullptr && declared->parameters.size() == count;
    for (std::size_t i = 0; i < count; ++i) {
      const ParameterUse& use = trial.facts.parameters[i];
      DraftArgument argument;
      argument.name = has_names ? declared->parameters[i].name : "";
      if (argument.name.empty()) argument.name = "argument_" + std::to_string(i);
      if (types.size() == count) {
        argument.type = types[i];
      } else if (has_names) {
        argument.type = declared->parameters[i].type;
      }
      const bool is_pointer =
          argument.type.empty() ? use.is_address : argument.type.find('*') != std::string::npos;
      argument.bytes = use.bytes;
      argument.use = use_of(use, is_pointer);
      argument.kind = kind_of(use, is_pointer);
      if (use.texture > 0 && !use.is_other_object) {
        argument.kind = Kind::kTexture;
        argument.dimensions = use.texture;
        argument.use = "read by tex";
      }
      if (use.is_other_object) {
        argument.dtype = todo(
            "not supported: surfaces and textures that are not of one or two "
            "dimensions, such as " +
            argument.name);
      } else if (argument.type.find("CUtensorMap") != std::string::npos) {
        argument.kind = Kind::kTensorMap;
        argument.use = "a tensor map";
      } else if (!is_pointer && use.is_address && element_type(argument.type).dtype.empty()) {
        argument.dtype = todo("not supported: pointers inside a structure, such as " +
                              argument.name + "; let the kernel take them as parameters");
      }
      finish(argument);
    }
  }

  void take_constants(const Trial& trial, const std::vector<DeclaredConstant>& declared) {
    for (const ConstantUse& use : trial.facts.constants) {
      if (use.has_value) {
        draft_.notes.push_back("__constant__ " + use.name +
                               " is initialised in the source, so it is not an argument");
        continue;
      }
      DraftArgument argument;
      argument.name = use.name;
      argument.kind = Kind::kConstant;
      argument.bytes = use.bytes;
      argument.use = "read";
      std::string declared_name = use.name;
      if (const std::size_t at = declared_name.find(kUnnamed); at != std::string::npos) {
        declared_name.erase(at, kUnnamed.size());
      }
      const auto known = std::ranges::find_if(
          declared, [&](const DeclaredConstant& one) { return one.name == declared_name; });
      if (known != declared.end()) argument.type = known->type;
      const ElementType element = element_type(argument.type);
      if (element.bytes > 0 && use.bytes > 0 && use.bytes % element.bytes == 0) {
        const std::size_t values = use.bytes / element.bytes;
        const std::string whole = std::to_string(values * static_cast<std::size_t>(element.lanes));
        const bool is_plain = known != declared.end() && known->extent.size() > whole.size() &&
                              element.lanes == 1 && is_constant(known->extent, whole);
        argument.extent = is_plain ? known->extent : whole;
      }
      finish(argument);
    }
  }

  /// Matches the T1 file's arguments in constant memory with the kernel's __constant__ variables by
  /// name, and its other arguments with the kernel's parameters by position.
  void take_t1() {
    std::size_t next = 0;
    for (const T1Argument& given : t1_.arguments) {
      DraftArgument* target = nullptr;
      if (given.is_constant) {
        target = find(given.name);
        if (target == nullptr || target->kind != Kind::kConstant) {
          leave_out(given.name, "the kernel reads no __constant__ variable of this name");
          continue;
        }
      } else if (next < draft_.arguments.size() && draft_.arguments[next].kind != Kind::kConstant) {
        target = &draft_.arguments[next++];
      } else {
        leave_out(given.name, "the kernel has no parameter for it");
        continue;
      }
      take(given, *target);
    }
  }

 private:
  void leave_out(const std::string& name, const std::string& why) {
    draft_.left_out.push_back("argument " + name + ": " + why);
  }

  DraftArgument* find(const std::string& name) {
    const auto found = std::ranges::find_if(
        draft_.arguments, [&](const DraftArgument& argument) { return argument.name == name; });
    return found == draft_.arguments.end() ? nullptr : &*found;
  }

  /// True if `text` is an expression without names whose value is `value`.
  static bool is_constant(const std::string& text, const std::string& value) {
    try {
      const Expression expression(text);
      return expression.variables().empty() &&
             expression.evaluate(std::map<std::string, double>()) == std::stod(value);
    } catch (const InputError&) {
      return false;
    }
  }

  /// Text to append to a TODO for the extent of a vector type: ", 4 for each float4".
  static std::string lanes_of(const DraftArgument& argument) {
    if (argument.lanes == 1) return {};
    std::string type = argument.type;
    for (const std::string word : {"const", "*", " "}) {
      for (std::size_t at = type.find(word); at != std::string::npos; at = type.find(word)) {
        type.erase(at, word.size());
      }
    }
    return ", " + std::to_string(argument.lanes) + " for each " + type;
  }

  void finish(DraftArgument argument) {
    const ElementType element = element_type(argument.type);
    const bool is_scalar = argument.kind == Kind::kScalar;
    const bool is_scalar_type = !element.dtype.empty() && element.lanes == 1 &&
                                element.bytes == argument.bytes &&
                                may_be_scalar(dtype_from_string(element.dtype));
    const std::string plain = argument.name.substr(argument.name.rfind(':') + 1);
    argument.lanes = element.lanes;
    if (argument.kind == Kind::kTensorMap) {
      draft_.notes.push_back(fmt::format(
          "parameter {}: describe the tensor map as your program gives it to "
          "cuTensorMapEncodeTiled; its buffer must be an argument, too; list the arguments that "
          "the kernel takes under \"arguments\" of the template",
          plain));
      draft_.arguments.push_back(std::move(argument));
      return;
    }
    if (!argument.dtype.empty()) {
      // Keeps the dtype, because it is a TODO that already says why the type is not supported.
    } else if (argument.kind == Kind::kTexture) {
      argument.dtype = todo("type of a texel of " + plain + ", such as f32");
      draft_.notes.push_back(fmt::format(
          "parameter {}: set the other members of cudaTextureDesc by \"memory\", "
          "\"address_x\", \"address_y\", \"normalized_coordinates\" and \"normalized_values\"",
          plain));
    } else if (is_scalar && argument.bytes == sizeof(int) &&
               enumerations_.contains(argument.type.substr(argument.type.rfind(':') + 1))) {
      argument.dtype = "i32";
    } else if (element.dtype.empty() || (is_scalar && !is_scalar_type)) {
      argument.dtype = todo("no dtype fits " + plain + ", whose C++ type is " +
                            (argument.type.empty() ? "unknown" : argument.type) +
                            (is_scalar ? ", " + std::to_string(argument.bytes) +
                                             " bytes; a structure has \"fields\" in place of "
                                             "dtype and value"
                                       : ""));
    } else {
      argument.dtype = std::string(element.dtype);
    }
    if (is_scalar) {
      argument.value = todo("value of " + argument.name);
    } else if (argument.use == kNeverUsed) {
      argument.extent = "1";
      draft_.notes.push_back("parameter " + argument.name +
                             ": the kernel never uses it, so it has one element");
    } else if (argument.extent.empty()) {
      argument.extent = todo("number of elements of " + plain + lanes_of(argument));
    }
    if (argument.is_read()) argument.generator = default_generator(argument);
    draft_.arguments.push_back(std::move(argument));
  }

  void take(const T1Argument& given, DraftArgument& target) {
    const ElementType element = t1_element_type(given.type);
    const bool is_scalar = target.kind == Kind::kScalar;
    const bool fits =
        given.is_scalar == is_scalar && (element.dtype.empty() || element.dtype == target.dtype);
    if (!fits) {
      leave_out(given.name, (given.is_scalar ? "a scalar " : "a buffer of ") + given.type +
                                " where the kernel has " + target.type + " " + target.name);
      return;
    }
    target.given_as = given.name;
    if (is_scalar) {
      if (given.fill_value) target.value = number(*given.fill_value).dump();
      return;
    }
    if (target.kind != Kind::kConstant) take_size(given, element, target);
    if (target.is_read()) take_fill(given, target);
  }

  void take_size(const T1Argument& given, const ElementType& element, DraftArgument& target) {
    if (given.size.empty()) return;
    const std::string size = understood(given.size, draft_, false);
    if (size.empty()) {
      leave_out(given.name, "Size " + given.size + ": not an expression of the problem's size");
    } else {
      target.extent = element.lanes > 1 ? std::to_string(element.lanes) + "*(" + size + ")" : size;
    }
  }

  /// Sets the generator of an argument. The T1 format does not define the distribution of FillType
  /// Random; the draft assumes a uniform distribution, from MinValue (default: 0) to MaxValue
  /// (default: FillValue, or else 1).
  void take_fill(const T1Argument& given, DraftArgument& target) {
    const double low = given.low.value_or(0);
    const double high = given.high.value_or(given.fill_value.value_or(1));
    const std::string fill = lower_case(given.fill);
    if (fill == "constant") {
      target.generator = {{"distribution", "constant"},
                          {"value", number(given.fill_value.value_or(0))}};
    } else if (fill == "random" && !is_integer_type(target.dtype) && high > low) {
      target.generator = {
          {"distribution", "uniform"}, {"low", number(low)}, {"high", number(high)}};
    } else if (fill == "random" && std::floor(high) > std::ceil(low)) {
      target.generator = {{"distribution", "integers"},
                          {"low", number(std::ceil(low))},
                          {"high", number(std::floor(high))}};
    } else if (!given.fill.empty()) {
      leave_out(given.name, "FillType " + given.fill + " " + given.data_source +
                                ": evo-tune has no such generator");
      target.generator = todo("generator of " + target.name + "; the T1 file gives " + given.fill +
                              " " + given.data_source);
    }
  }

  const T1File& t1_;
  const std::set<std::string>& enumerations_;
  Draft& draft_;
};

}  // namespace

void draft_arguments(const T1File& t1, const Declarations& declared,
                     const std::vector<DeclaredConstant>& constants, const Trial& trial,
                     Draft& draft) {
  const std::string plain = draft.entry.substr(0, draft.entry.find('<'));
  const auto kernel = std::ranges::find_if(declared.kernels, [&](const auto& one) {
    return one.name == plain || "::" + one.name == plain || one.name.ends_with("::" + plain);
  });
  Arguments arguments(t1, declared.enumerations, draft);
  arguments.take_parameters(trial, kernel == declared.kernels.end() ? nullptr : &*kernel);
  std::vector<DeclaredConstant> known = declared.constants;
  known.insert(known.end(), constants.begin(), constants.end());
  arguments.take_constants(trial, known);
  arguments.take_t1();
}

}  // namespace evo
