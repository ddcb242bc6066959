// The launch of a bundle's kernel on one shape: its arguments and sizes. A part of evo_tune.hpp: do
// not include this file directly.
#ifndef EVO_TUNE_PLAN_HPP_V3
#define EVO_TUNE_PLAN_HPP_V3

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "evo_tune_index.hpp"

struct CUfunc_st;

namespace evo_tune {
inline namespace v3 {

/// The properties of a device that decide which kernels can run.
struct Device {
  std::string name;
  int compute_capability = 0;  ///< 90 for 9.0
  int sm_count = 0;
  int shared_bytes = 0;  ///< largest size that a CTA can opt into
};

/// The unchecked uses that the caller permits, by the name of a shape variable or buffer. A shape
/// variable may have unchecked values in the range given here. A buffer named here may overlap
/// other buffers and have an unchecked alignment; the range given for it is ignored.
using Allowed = std::map<std::string, std::pair<double, double>>;

namespace detail {

constexpr std::size_t kMostArguments = 256, kMostParameterBytes = 32764, kMostMaps = 32;

/// The bits of the 16-bit float that is nearest to `value`, ties to even. `mantissa_bits`: 10 for
/// f16, 7 for bf16.
inline std::uint16_t half_bits(double value, int mantissa_bits) {
  const int bias = (1 << (14 - mantissa_bits)) - 1;
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), mantissa_bits - exponent));
  const int sign = std::signbit(value) ? 0x8000 : 0;
  return std::uint16_t(sign + ((exponent + bias - 1) << mantissa_bits) + static_cast<int>(steps));
}

/// Writes a number at its offset in the bytes of an argument.
inline void store(std::vector<unsigned char>& bytes, const Json& field, double value) {
  const std::string& dtype = field.text("dtype");
  const std::size_t offset = whole(field.number("offset"), kMostParameterBytes, "'offset'");
  const std::size_t size = whole(field.number("bytes"), sizeof value, "'bytes'");
  const auto put = [&](const auto& number) {  // writes the low `size` bytes of a number
    if (size > std::min(sizeof number, bytes.size()) || offset > bytes.size() - size) {
      throw Error("'offset' and 'bytes' reach beyond the argument");
    }
    std::memcpy(bytes.data() + offset, &number, size);
  };
  const auto within = [&](double least, double below) {
    if (value >= least && value < below) return;
    throw Error(text_of(value) + " is no value of type " + dtype);
  };
  if (dtype == "f64") return put(value);
  if (dtype == "f32") return within(-0x1p128, 0x1p128), put(static_cast<float>(value));
  if (dtype == "f16") return within(-65520, 65520), put(half_bits(value, 10));
  if (dtype == "bf16") return within(-0x1p128, 0x1p128), put(half_bits(value, 7));
  if (dtype == "u64") return within(0, 0x1p64), put(static_cast<std::uint64_t>(value));
  within(-0x1p63, 0x1p63);
  put(static_cast<std::int64_t>(value));
}

/// Arguments of cuTensorMapEncodeTiled, without the address.
struct TensorMap {
  static constexpr std::size_t kMostDimensions = 5;
  std::size_t of = 0;  ///< position of its buffer among the plan's arguments
  int type = 0;        ///< CUtensorMapDataType
  unsigned rank = 0;
  std::array<std::uint64_t, kMostDimensions> dims{}, strides{};
  std::array<unsigned, kMostDimensions> box{}, steps{};
  int swizzle = 0, promotion = 0;  ///< CUtensorMapSwizzle, CUtensorMapL2promotion
};

/// A CUlaunchAttribute, whose value is 1 for all attributes that evo-tune uses.
struct LaunchAttribute {
  int id = 0;  ///< CUlaunchAttributeID
  alignas(8) std::array<int, 16> value{1};
};
static_assert(sizeof(LaunchAttribute) == 72, "the size in cuda.h");

inline LaunchAttribute launch_attribute(const std::string& name) {
  constexpr int kCooperative = 2, kProgrammaticStreamSerialization = 6;
  if (name == "cooperative") return {kCooperative};
  if (name == "programmatic_stream_serialization") return {kProgrammaticStreamSerialization};
  throw Error("'" + name + "' is no launch attribute");
}

/// The launch of a kernel on one shape.
struct Plan {
  struct Argument {
    std::string name;
    std::string direction;
    std::size_t bytes = 0;
    std::vector<unsigned char> value;  ///< a scalar's bytes; a workspace's address
    std::size_t buffer = 0;            ///< index of the caller's buffer if `value` is empty
    std::size_t alignment = 1;         ///< of the buffer's address, a power of two
    bool may_overlap = false;
    bool is_map = false;  ///< whether a launch encodes `map`
    TensorMap map;
  };
  /// The properties of a nonempty buffer that every launch checks.
  struct Span {
    std::size_t buffer = 0;
    std::uintptr_t bytes = 0;
    std::uintptr_t low_bits = 0;  ///< bits of the buffer's address that must be zero
    bool is_written = false;
    bool may_overlap = false;
  };
  struct Step {
    std::string entry;
    std::array<unsigned, 7> size{};      ///< grid, block, dynamic shared memory
    std::vector<std::size_t> arguments;  ///< in the order of the kernel's parameters
    std::vector<LaunchAttribute> attributes;
    CUfunc_st* function = nullptr;
  };
  std::vector<Argument> arguments;
  std::vector<Span> spans;
  std::vector<Step> steps;
};

/// Throws Error if a condition does not hold, unless `allowed` permits the value of one of the
/// condition's variables.
inline void require_valid(const Json& condition, const Values& values, const Allowed& allowed) {
  std::vector<std::string> variables;
  if (condition.find("variables") != nullptr) variables = condition.names("variables");
  std::string sizes;
  std::string calls;
  for (const std::string& name : variables) {
    const auto own = values.find(name);
    if (own == values.end()) throw Error("'" + name + "' is unknown");
    const auto range = allowed.find(name);
    if (range != allowed.end() && own->second >= range->second.first &&
        own->second <= range->second.second) {
      return;
    }
    sizes += (sizes.empty() ? "" : ", ") + name + " = " + text_of(own->second);
    calls += (calls.empty() ? "" : " or ") + ("allow_unchecked(\"" + name + "\")");
  }
  if (value_of(condition, values) != 0) return;
  const std::string failed =
      "'" + condition.text("expression") + "' does not hold: " + condition.text("why");
  throw Error(variables.empty() ? failed
                                : sizes + " was not checked: " + failed + "; " + calls +
                                      " lets it be launched all the same");
}

/// The value of a CUDA enumeration of powers of two: 0 for 0 bytes, 1 for `first`, 2 for 2 *
/// `first`, and so on up to `most`. Throws Error for other numbers of bytes.
inline int doublings(std::size_t bytes, std::size_t first, int most, const std::string& what) {
  for (int code = 0; code <= most; ++code) {
    if (bytes == (code == 0 ? 0 : first << (code - 1))) return code;
  }
  throw Error(what + " is " + std::to_string(bytes) + " bytes");
}

/// Computes all members of a tensor map except `of`, the position of its buffer. Limits that are
/// not checked here are checked by the driver.
inline TensorMap planned_map(const Json& its, const Values& values) {
  constexpr double kMost = 0x1p53, kMostType = 100;
  const std::string& name = its.text("name");
  TensorMap map;
  const auto value = [&](const Json& expression) {
    return whole(value_of(expression, values), kMost, expression.text("expression"));
  };
  const auto fill = [&](const char* key, auto& numbers, std::size_t count) {
    const std::vector<Json>& list = its.list(key);
    if (list.size() != count)
      throw Error(std::string(key) + " of " + name + ": the list has the wrong number of entries");
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = static_cast<std::decay_t<decltype(numbers[0])>>(value(list[i]));
  };
  const std::size_t rank = its.list("dims").size();
  if (rank == 0 || rank > TensorMap::kMostDimensions) throw Error("dims of " + name);
  map.rank = static_cast<unsigned>(rank);
  map.type = static_cast<int>(whole(its.number("type"), kMostType, "'type'"));
  fill("dims", map.dims, rank);
  fill("strides", map.strides, rank - 1);
  fill("box", map.box, rank);
  fill("element_strides", map.steps, rank);
  map.swizzle = doublings(value(its.at("swizzle")), 32, 3, "the swizzle of " + name);
  map.promotion = doublings(value(its.at("l2_promotion")), 64, 3, "the l2_promotion of " + name);
  return map;
}

/// Sets TensorMap::of. Throws Error unless the tensor lies within its buffer.
inline void place_map(const Json& its, Plan::Argument& argument, const Plan& plan) {
  const std::string& of = its.text("of");
  TensorMap& map = argument.map;
  while (map.of < plan.arguments.size() && plan.arguments[map.of].name != of) ++map.of;
  if (map.of == plan.arguments.size()) throw Error("no argument '" + of + "'");
  const std::size_t element = whole(its.number("element_bytes"), 8, "'element_bytes'");
  double bytes = static_cast<double>(map.dims[0]) * static_cast<double>(element);
  for (unsigned i = 1; i < map.rank; ++i) {
    bytes += (static_cast<double>(map.dims[i]) - 1) * static_cast<double>(map.strides[i - 1]);
  }
  if (bytes <= static_cast<double>(plan.arguments[map.of].bytes)) return;
  throw Error("tensor map '" + argument.name + "' reaches byte " + text_of(bytes) + " of '" + of +
              "', which has " + std::to_string(plan.arguments[map.of].bytes));
}

inline Plan::Argument planned_argument(const Json& its, const Values& values,
                                       const Allowed& allowed) {
  constexpr double kMostBytes = 0x1p53;
  constexpr std::size_t kMostAlignment = 4096;
  Plan::Argument argument;
  argument.name = its.text("name");
  argument.direction = its.text("direction");
  if (argument.direction == "tensor_map") {
    argument.is_map = true;
    argument.map = planned_map(its, values);
    return argument;
  }
  const auto bytes = value_of(its.at("bytes"), values);
  if (argument.direction == "scalar") {
    argument.bytes = whole(bytes, kMostParameterBytes, "bytes of " + argument.name);
    if (argument.bytes == 0) throw Error("bytes of " + argument.name + ": there are none");
    argument.value.resize(argument.bytes);
    for (const Json& field : its.list("fields")) {
      store(argument.value, field, value_of(field, values));
    }
    return argument;
  }
  if (argument.direction != "in" && argument.direction != "out" && argument.direction != "inout" &&
      argument.direction != "workspace") {
    throw Error("'" + argument.direction + "' is no direction");
  }
  argument.bytes = whole(bytes, kMostBytes, "bytes of " + argument.name);
  argument.may_overlap = allowed.count(argument.name) != 0;
  const char* alignment = argument.may_overlap ? "element_bytes" : "alignment";
  argument.alignment = std::max<std::size_t>(
      whole(its.number(alignment), kMostAlignment, std::string("'") + alignment + "'"), 1);
  if ((argument.alignment & (argument.alignment - 1)) != 0) {
    throw Error(std::string("'") + alignment + "' is no power of two");
  }
  return argument;
}

/// The grid, block and dynamic shared memory of a launch. Throws Error unless all sizes are whole
/// numbers below 2^31 and those of grid and block above 0.
inline std::array<unsigned, 7> planned_sizes(const Json& step, const Values& values) {
  constexpr double kMost = 0x1p31 - 1;
  std::array<unsigned, 7> sizes{};
  const std::vector<Json>& list = step.list("sizes");
  if (list.size() != sizes.size()) throw Error("'sizes' must be 7 expressions");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string& text = list[i].text("expression");
    sizes[i] = static_cast<unsigned>(whole(value_of(list[i], values), kMost, text));
    if (sizes[i] == 0 && i + 1 < sizes.size()) throw Error(text + ": is 0");
  }
  return sizes;
}

/// Computes a launch from the "plan" of a kernel. Throws Error with the reason if the kernel is not
/// valid for the shape. `buffers`: the names of the caller's buffers, in order.
inline Plan planned(const Json& json, Values values, const Device& device,
                    const std::vector<std::string>& buffers, const Allowed& allowed) {
  values["SM_COUNT"] = device.sm_count;
  values["SHARED_BYTES"] = device.shared_bytes;
  for (const Json& condition : json.list("valid")) require_valid(condition, values, allowed);
  Plan plan;
  std::vector<std::string> own;
  for (const Json& its : json.list("arguments")) {
    plan.arguments.push_back(planned_argument(its, values, allowed));
    Plan::Argument& argument = plan.arguments.back();
    if (argument.direction == "scalar" || argument.direction == "workspace" || argument.is_map)
      continue;
    argument.buffer = own.size();
    own.push_back(argument.name);
    if (argument.bytes == 0) continue;
    plan.spans.push_back({argument.buffer, argument.bytes, argument.alignment - 1,
                          argument.direction != "in", argument.may_overlap});
  }
  if (own != buffers) throw Error("its buffers are not those of the bundle");
  std::size_t maps = 0;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    if (!plan.arguments[i].is_map) continue;
    if (++maps > kMostMaps) throw Error("more than 32 tensor maps");
    place_map(json.list("arguments")[i], plan.arguments[i], plan);
  }
  for (const Json& its : json.list("steps")) {
    if (value_of(its.at("when"), values) == 0) continue;
    Plan::Step& step = plan.steps.emplace_back();
    step.entry = its.text("entry");
    for (const std::string& name : its.names("arguments")) {
      std::size_t i = 0;
      while (i < plan.arguments.size() && plan.arguments[i].name != name) ++i;
      const bool is_known = i < plan.arguments.size() && step.arguments.size() < kMostArguments;
      step.arguments.push_back(is_known ? i : throw Error("no argument '" + name + "'"));
    }
    step.size = planned_sizes(its, values);
    if (its.find("attributes") == nullptr) continue;  // an older bundle
    for (const std::string& name : its.names("attributes"))
      step.attributes.push_back(launch_attribute(name));
  }
  return !plan.steps.empty() ? plan : throw Error("'when' of every step is 0");
}

[[noreturn]] inline void fail_apart(const std::string& name, const std::string& problem) {
  throw Error("argument '" + name + "' " + problem + "; allow_unchecked(\"" + name +
              "\") lets it be launched all the same");
}

/// Throws Error if a nonempty buffer is null or lacks the alignment of the checks, or if a written
/// buffer overlaps another buffer without permission. `names`: the names of the buffers.
inline void require_apart(const Plan& plan, void* const* buffers,
                          const std::vector<std::string>& names) {
  const auto address = [&](const Plan::Span& its) {
    return reinterpret_cast<std::uintptr_t>(buffers[its.buffer]);
  };
  for (const Plan::Span& one : plan.spans) {
    const std::uintptr_t begin = address(one);
    if (begin == 0) throw Error("argument '" + names[one.buffer] + "' is null");
    if ((begin & one.low_bits) != 0) {
      fail_apart(names[one.buffer], "is aligned to " + std::to_string(begin & (~begin + 1)) +
                                        " bytes; it was checked aligned to " +
                                        std::to_string(one.low_bits + 1));
    }
    if (!one.is_written || one.may_overlap) continue;
    for (const Plan::Span& other : plan.spans) {
      if (begin >= address(other) + other.bytes || address(other) >= begin + one.bytes ||
          &one == &other || other.may_overlap) {
        continue;
      }
      fail_apart(names[one.buffer], "is written and overlaps '" + names[other.buffer] + "'");
    }
  }
}

}  // namespace detail
}  // namespace v3
}  // namespace evo_tune

#endif  // EVO_TUNE_PLAN_HPP_V3
