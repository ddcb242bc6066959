#include "tools/bundle/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "engine/core/error.hpp"
#include "engine/core/expression_grammar.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/tensor_map_type.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Constants = std::map<std::string, double>;

/// An upper limit for the elements of a buffer, larger than any device's memory.
constexpr double kMostElements = 0x1p40;

/// The alignment in bytes of every buffer during the checks, which cuMemAlloc, the virtual GPU and
/// the guard zones (engine/device/guard.hpp) guarantee.
constexpr int kJudgedAlignment = 256;

OrderedJson tree_of(const std::string& text, const Constants& constants) {
  return OrderedJson::parse(translate_expression(text, constants));
}

OrderedJson labelled(const std::string& label, OrderedJson tree) {
  return {{"expression", label}, {"tree", std::move(tree)}};
}

const std::string& text_of(const OrderedJson& expression) {
  return expression.at("expression").get_ref<const std::string&>();
}

/// An expression tree with the value of a scalar. Loaders reject values outside the range of the
/// type and, for integer types, values that are not whole.
OrderedJson checked_scalar(OrderedJson tree, Dtype dtype) {
  if (is_floating(dtype)) {
    return {"within", std::move(tree), -largest_finite(dtype), largest_finite(dtype)};
  }
  const bool is_signed = row_of(dtype).kind == NumberKind::kSigned;
  const double beyond = std::ldexp(1, static_cast<int>(8 * size_of(dtype)) - (is_signed ? 1 : 0));
  // The largest whole number below `beyond` that double precision can represent.
  const double most = std::min(beyond - 1, std::nextafter(beyond, 0));
  return {"whole", std::move(tree), is_signed ? -beyond : 0, most};
}

/// Appends the factors of the product `tree` to `factors`, in order.
void add_factors(const OrderedJson& tree, OrderedJson& factors) {
  if (tree.is_array() && tree.at(0) == "*") {
    add_factors(tree.at(1), factors);
    add_factors(tree.at(2), factors);
  } else {
    factors.push_back(tree);
  }
}

OrderedJson factors_of(const OrderedJson& argument, const Constants& constants) {
  OrderedJson factors = OrderedJson::array();
  add_factors(tree_of(text_of(argument.at("extent")), constants), factors);
  return factors;
}

/// Whether the extents of arguments list the dimensions from the outermost to the innermost.
/// Row-major order is assumed if some argument has the key "row", and if the last factor of the
/// "extent" of each such argument is the value of "row".
bool is_row_major(const OrderedJson& arguments, const Constants& constants) {
  bool is_said = false;
  for (const OrderedJson& argument : arguments) {
    if (!argument.contains("row")) continue;
    if (factors_of(argument, constants).back() != tree_of(text_of(argument.at("row")), constants)) {
      return false;
    }
    is_said = true;
  }
  return is_said;
}

OrderedJson scalar_plan(const OrderedJson& argument, const Constants& constants) {
  const auto name = argument.at("name").get<std::string>();
  const OrderedJson fields =
      argument.contains("fields") ? argument.at("fields") : OrderedJson::array({argument});
  OrderedJson planned = OrderedJson::array();
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  for (const OrderedJson& field : fields) {
    const Dtype dtype = dtype_from_string(field.at("dtype").get<std::string>());
    const std::size_t size = size_of(dtype);
    bytes = (bytes + size - 1) / size * size;  // padding, as C++ lays out a structure
    const std::string& text = text_of(field.at("value"));
    const std::string its = field.at("name").get<std::string>();
    OrderedJson json =
        labelled(fmt::format("{}{} = {}", name, argument.contains("fields") ? "." + its : "", text),
                 checked_scalar(tree_of(text, constants), dtype));
    json["dtype"] = std::string(to_string(dtype));
    json["offset"] = bytes;
    json["bytes"] = size;
    planned.push_back(std::move(json));
    bytes += size;
    alignment = std::max(alignment, size);
  }
  bytes = (bytes + alignment - 1) / alignment * alignment;
  return {{"name", name},
          {"direction", "scalar"},
          {"bytes", labelled("bytes of " + name, bytes)},
          {"fields", planned}};
}

OrderedJson buffer_plan(const OrderedJson& argument, const Constants& constants,
                        bool with_dimensions) {
  const auto name = argument.at("name").get<std::string>();
  const Dtype dtype = dtype_from_string(argument.at("dtype").get<std::string>());
  const std::string& extent = text_of(argument.at("extent"));
  const std::string label = fmt::format("extent of {} = {}", name, extent);
  const OrderedJson elements = {"whole", tree_of(extent, constants), 0, kMostElements};
  OrderedJson json = {{"name", name},
                      {"direction", argument.at("direction")},
                      {"dtype", std::string(to_string(dtype))},
                      {"elements", labelled(label, elements)},
                      {"bytes", labelled(label, {"*", elements, size_of(dtype)})},
                      {"element_bytes", size_of(dtype)},
                      {"alignment", kJudgedAlignment},
                      {"fields", OrderedJson::array()}};
  const OrderedJson factors = factors_of(argument, constants);
  if (with_dimensions || factors.size() == 1) json["dimensions"] = factors;
  return json;
}

/// The arguments of cuTensorMapEncodeTiled. For a dense tensor, computes the strides, which the
/// manifest omits.
OrderedJson tensor_map_plan(const OrderedJson& argument, const OrderedJson& arguments,
                            const Constants& constants) {
  constexpr double kMostNumber = 0x1p32;
  constexpr double kMostStride = 0x1p40;
  const auto name = argument.at("name").get<std::string>();
  const auto of = std::ranges::find_if(
      arguments, [&](const OrderedJson& its) { return its.at("name") == argument.at("of"); });
  if (of == arguments.end())
    throw InputError("tensor map '" + name + "': the kernel's arguments lack its buffer");
  const Dtype dtype = dtype_from_string(of->at("dtype").get<std::string>());
  const auto number = [&](const char* key, const std::string& text, double most) {
    return labelled(fmt::format("{} of {} = {}", key, name, text),
                    {"whole", tree_of(text, constants), 0, most});
  };
  const auto numbers = [&](const char* key, double most) {
    OrderedJson list = OrderedJson::array();
    for (const OrderedJson& its : argument.value(key, OrderedJson::array()))
      list.push_back(number(key, text_of(its), most));
    return list;
  };
  OrderedJson json = {{"name", name},
                      {"direction", "tensor_map"},
                      {"of", argument.at("of")},
                      {"type", static_cast<int>(tensor_map_type(dtype))},
                      {"element_bytes", size_of(dtype)},
                      {"dims", numbers("dims", kMostNumber)},
                      {"strides", numbers("strides", kMostStride)},
                      {"box", numbers("box", kMostNumber)},
                      {"element_strides", numbers("element_strides", kMostNumber)}};
  const std::size_t rank = json["dims"].size();
  std::string dense = std::to_string(size_of(dtype));
  for (std::size_t i = 0; i + 1 < rank && !argument.contains("strides"); ++i) {
    dense += " * (" + text_of(argument.at("dims").at(i)) + ")";
    json["strides"].push_back(number("strides", dense, kMostStride));
  }
  for (std::size_t i = 0; i < rank && !argument.contains("element_strides"); ++i)
    json["element_strides"].push_back(number("element_strides", "1", 1));
  for (const char* key : {"swizzle", "l2_promotion"})
    json[key] = number(key, text_of(argument.at(key)), kMostNumber);
  return json;
}

OrderedJson step_plan(const OrderedJson& step, const OrderedJson& names, double static_shared_bytes,
                      const Constants& constants) {
  // Limits of grid and block (CUDA C++ Programming Guide, technical specifications).
  constexpr std::array<double, 6> kMost = {0x1p31 - 1, 65535, 65535, 1024, 1024, 64};
  const OrderedJson launch = step.value("launch", OrderedJson::object());
  OrderedJson sizes = OrderedJson::array();
  for (std::size_t i = 0; i < kMost.size(); ++i) {
    const char* key = i < 3 ? "grid" : "block";
    const OrderedJson list = launch.value(key, OrderedJson::array());
    const std::string text = i % 3 < list.size() ? text_of(list.at(i % 3)) : "1";
    sizes.push_back(labelled(fmt::format("{}[{}] = {}", key, i % 3, text),
                             {"whole", tree_of(text, constants), 1, kMost[i]}));
  }
  const std::string shared = launch.contains("dynamic_shared_bytes")
                                 ? text_of(launch.at("dynamic_shared_bytes"))
                                 : std::string("0");
  sizes.push_back(labelled(
      "dynamic shared bytes = " + shared,
      {"whole", tree_of(shared, constants), 0, {"-", "SHARED_BYTES", static_shared_bytes}}));
  const std::string when = step.contains("when") ? text_of(step.at("when")) : std::string("1");
  return {{"entry", step.at("entry")},
          {"when", labelled(when, tree_of(when, constants))},
          {"arguments", step.contains("runs") ? step.at("arguments") : names},
          {"sizes", sizes},
          {"attributes", launch.value("attributes", OrderedJson::array())}};
}

}  // namespace

int compute_capability_of(const std::string& arch) {
  const bool is_known = arch.starts_with("sm_") && arch.size() > 3 &&
                        std::isdigit(static_cast<unsigned char>(arch[3]));
  if (is_known) return std::stoi(arch.substr(3));
  throw InputError("'" + arch +
                   "' is not an architecture; allowed: names such as sm_90 and sm_90a");
}

OrderedJson kernel_plan(const OrderedJson& manifest,
                        const std::vector<std::string>& shape_variables) {
  // A shape variable takes precedence over a macro of the same name.
  auto constants = manifest.at("macros").get<Constants>();
  for (const std::string& variable : shape_variables) constants.erase(variable);
  constants.erase("SM_COUNT");
  const OrderedJson& arguments = manifest.at("arguments");
  OrderedJson plan;
  const auto arch = manifest.at("arch").get<std::string>();
  const int capability = compute_capability_of(arch);
  // Machine code runs on devices with the same major and the same or a later minor compute
  // capability, PTX on all later devices. Code for an architecture-specific target (sm_90a) runs
  // only on that architecture.
  constexpr int kAnyLater = 999;
  const bool is_specific = std::isdigit(static_cast<unsigned char>(arch.back())) == 0;
  plan["machine_code"] = {{"from", capability},
                          {"to", is_specific ? capability : capability / 10 * 10 + 9}};
  plan["ptx"] = {{"from", is_specific ? kAnyLater : capability},
                 {"to", is_specific ? 0 : kAnyLater}};
  plan["valid"] = OrderedJson::array();
  for (const OrderedJson& condition : manifest.at("valid")) {
    OrderedJson json = labelled(text_of(condition), tree_of(text_of(condition), constants));
    json["why"] = condition.at("why");
    if (condition.contains("variables")) json["variables"] = condition.at("variables");
    plan["valid"].push_back(std::move(json));
  }
  const bool with_dimensions = is_row_major(arguments, constants);
  plan["arguments"] = OrderedJson::array();
  OrderedJson names = OrderedJson::array();
  for (const OrderedJson& argument : arguments) {
    const auto direction = argument.at("direction").get<std::string>();
    plan["arguments"].push_back(direction == "scalar" ? scalar_plan(argument, constants)
                                : direction == "tensor_map"
                                    ? tensor_map_plan(argument, arguments, constants)
                                    : buffer_plan(argument, constants, with_dimensions));
    names.push_back(argument.at("name"));
  }
  plan["steps"] = OrderedJson::array();
  const OrderedJson steps =
      manifest.contains("steps") ? manifest.at("steps") : OrderedJson::array({manifest});
  const double static_bytes = manifest.at("resources").at("static_shared_bytes").get<double>();
  for (const OrderedJson& step : steps) {
    plan["steps"].push_back(step_plan(step, names, static_bytes, constants));
  }
  return plan;
}

}  // namespace evo
