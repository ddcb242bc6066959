// Part of evo_tune.hpp: a kernel of a bundle, and what it is launched with on a shape.
#ifndef EVO_TUNE_KERNEL_HPP_V1
#define EVO_TUNE_KERNEL_HPP_V1

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "evo_tune_text.hpp"

namespace evo_tune {
inline namespace v1 {

/// What decides which kernels can run.
struct Device {
  std::string name;
  int compute_capability = 0;  ///< 90 for 9.0
  int sm_count = 0;
  int shared_bytes = 0;  ///< that a CTA can opt into
};

namespace detail {

/// An element type, by its name: f32, u8, e4m3…
struct Type {
  explicit Type(const std::string& its_name) : name(its_name) {
    static const std::string kKnown = " e4m3 e5m2 f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 ";
    if (kKnown.find(" " + name + " ") == std::string::npos) {
      throw Error("dtype '" + name + "' is not known");
    }
    is_float = name[0] != 'i' && name[0] != 'u';
    const std::size_t digits = name == "bf16" ? 2 : 1;
    bytes = name[0] == 'e' ? 1 : std::strtoul(name.c_str() + digits, nullptr, 10) / 8;
  }
  /// Whether a scalar of this type holds the value, rounded where it is a float.
  bool holds(double value) const {
    if (name == "f16") return std::fabs(value) <= 65504;
    if (name == "bf16") return std::fabs(value) <= 0x1.FEp127;
    if (name == "f32") return std::fabs(value) <= 0x1.FFFFFEp127;
    if (is_float) return std::isfinite(value);
    const bool is_signed = name[0] == 'i';
    const double beyond = std::ldexp(1, static_cast<int>(8 * bytes) - (is_signed ? 1 : 0));
    return value == std::floor(value) && value < beyond && value >= (is_signed ? -beyond : 0);
  }

  std::string name;
  std::size_t bytes = 0;
  bool is_float = false;
};

/// Bits of the nearest float of 16 bits, ties to even.
inline std::uint16_t half_bits(double value, int mantissa_bits) {
  const int bias = (1 << (14 - mantissa_bits)) - 1;
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), mantissa_bits - exponent));
  const int bits = ((exponent + bias - 1) << mantissa_bits) + static_cast<int>(steps);
  return static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000 : 0));
}

/// Adds a scalar as C++ lays out the members of a structure.
inline void append(std::vector<unsigned char>& bytes, const Type& type, double value) {
  if (!type.holds(value)) throw Error(text_of(value) + " does not fit " + type.name);
  bytes.resize((bytes.size() + type.bytes - 1) / type.bytes * type.bytes);
  const auto put = [&](const auto& number) {  // of an integer the low bytes
    const auto* begin = reinterpret_cast<const unsigned char*>(&number);
    bytes.insert(bytes.end(), begin, begin + type.bytes);
  };
  if (type.name == "f64") {
    put(value);
  } else if (type.name == "f32") {
    put(static_cast<float>(value));
  } else if (type.is_float) {
    put(half_bits(value, type.name == "f16" ? 10 : 7));
  } else if (type.name == "u64") {
    put(static_cast<std::uint64_t>(value));
  } else {
    put(static_cast<std::int64_t>(value));
  }
}

struct Field {
  Type type;
  std::string expression;
};

struct Argument {
  std::string name;
  std::string direction;
  std::vector<Field> fields;  ///< of a buffer one: its extent

  bool is_scalar() const { return direction == "scalar"; }
  bool is_workspace() const { return direction == "workspace"; }
};

/// One launch. `Number`: an expression in the index, its value for a shape.
template <typename Number>
struct Step {
  std::string entry;
  std::vector<Number> grid;
  std::vector<Number> block;
  Number shared_bytes;
  std::vector<std::size_t> arguments;  ///< in the order of the kernel's parameters
  std::string when = {};
};

/// What a kernel is launched with on one shape.
struct Plan {
  std::vector<Step<unsigned>> steps;
  std::vector<std::vector<unsigned char>> scalars;  ///< of each argument; empty for others
  std::vector<std::size_t> bytes;                   ///< of each argument's buffer
};

/// One kernel of an index.
class Kernel {
 public:
  explicit Kernel(const Json& json) : name(json.string("name")) {
    try {
      read(json);
    } catch (const Error& error) {
      throw Error("kernel '" + name + "': " + error.what());
    }
  }

  /// Whether its machine code, or its PTX, runs there. An architecture-specific one (sm_90a) has no
  /// PTX for others.
  bool runs(const Device& device, bool from_ptx) const {
    const int its = device.compute_capability;
    if (is_specific_) return !from_ptx && its == capability;
    return its >= capability && (from_ptx || its / 10 == capability / 10);
  }

  /// Throws Error saying why it is not valid for the shape or does not fit the device.
  Plan plan(const Values& shape, const Device& device) const {
    Values values = macros_;
    for (const auto& [variable, value] : shape) values[variable] = value;
    values["SM_COUNT"] = device.sm_count;
    for (const auto& [expression, why] : valid_) {
      if (Evaluation(expression, values).run() != 0) continue;
      throw Error("'" + expression + "' does not hold" + (why.empty() ? "" : ": " + why));
    }
    Plan plan;
    for (const Argument& argument : arguments) {
      try {
        plan_argument(argument, values, plan);
      } catch (const Error& error) {
        throw Error("argument '" + argument.name + "': " + error.what());
      }
    }
    for (const Step<std::string>& step : steps_) {
      if (!step.when.empty() && Evaluation(step.when, values).run() == 0) continue;
      plan.steps.push_back(planned(step, values, device));
    }
    if (plan.steps.empty()) throw Error("no step runs");
    return plan;
  }

  std::string name;
  std::string cubin;  ///< file names
  std::string ptx;
  int capability = 0;  ///< 90 for sm_90 and sm_90a
  std::vector<Argument> arguments;

 private:
  void read(const Json& json) {
    cubin = json.string("cubin");
    ptx = json.string("ptx");
    const std::string& arch = json.string("arch");
    capability = arch.compare(0, 3, "sm_") == 0 ? std::atoi(arch.c_str() + 3) : 0;
    if (capability == 0) throw Error("arch: '" + arch + "' is not such as sm_90 or sm_90a");
    is_specific_ = !is_digit(arch.back());
    for (const auto& [macro, value] : json.at("macros", Json::kObject).items) {
      macros_[macro] = value.number;
    }
    for (const auto& [unused, item] : json.array("valid")) {
      valid_.emplace_back(item.string("expression"), item.string("why"));
    }
    for (const auto& [unused, item] : json.array("arguments")) read_argument(item);
    const Json& resources = json.at("resources", Json::kObject);
    static_shared_bytes_ = resources.at("static_shared_bytes", Json::kNumber).number;
    if (json.find("steps") == nullptr) steps_.push_back(read_step(json));
    if (json.find("steps") == nullptr) return;
    for (const auto& [unused, item] : json.array("steps")) steps_.push_back(read_step(item));
  }
  void read_argument(const Json& json) {
    Argument argument{json.string("name"), json.string("direction"), {}};
    if (json.find("kind") != nullptr) {
      throw Error("argument '" + argument.name + "': not supported: " + json.string("kind"));
    }
    const auto add = [&](const Json& field, const char* key) {
      argument.fields.push_back(
          {Type(field.string("dtype")), field.at(key, Json::kObject).string("expression")});
    };
    if (json.find("fields") == nullptr) add(json, argument.is_scalar() ? "value" : "extent");
    if (json.find("fields") != nullptr) {
      for (const auto& [unused, field] : json.array("fields")) add(field, "value");
    }
    arguments.push_back(std::move(argument));
  }
  Step<std::string> read_step(const Json& json) const {
    const Json& launch = json.at("launch", Json::kObject);
    const auto list = [&](const char* key) {
      std::vector<std::string> expressions;
      for (const auto& [unused, item] : launch.array(key)) {
        expressions.push_back(item.string("expression"));
      }
      return expressions;
    };
    Step<std::string> step{json.string("entry"),
                           list("grid"),
                           list("block"),
                           launch.at("dynamic_shared_bytes", Json::kObject).string("expression"),
                           {}};
    if (json.find("when") != nullptr)
      step.when = json.at("when", Json::kObject).string("expression");
    // A step names what it takes; a kernel without steps takes all.
    const bool takes_all = json.find("runs") == nullptr;
    for (std::size_t i = 0; i < arguments.size() && takes_all; ++i) step.arguments.push_back(i);
    if (takes_all) return step;
    for (const auto& [unused, item] : json.array("arguments")) {
      std::size_t i = 0;
      while (i < arguments.size() && arguments[i].name != item.text) ++i;
      if (i == arguments.size()) throw Error("there is no argument '" + item.text + "'");
      step.arguments.push_back(i);
    }
    return step;
  }

  static double whole(const std::string& expression, const Values& values, double least,
                      double most) {
    const double value = Evaluation(expression, values).run();
    if (value == std::floor(value) && value >= least && value <= most) return value;
    throw Error("'" + expression + "' is " + text_of(value) + "; allowed is a whole number from " +
                text_of(least) + " to " + text_of(most));
  }
  static void plan_argument(const Argument& argument, const Values& values, Plan& plan) {
    constexpr double kMost = 0x1p40;  // elements and bytes of a buffer, above any device's memory
    plan.scalars.emplace_back();
    plan.bytes.push_back(0);
    if (!argument.is_scalar()) {
      const Field& field = argument.fields.front();
      plan.bytes.back() =
          static_cast<std::size_t>(whole(field.expression, values, 0, kMost)) * field.type.bytes;
      return;
    }
    std::size_t alignment = 1;
    std::vector<unsigned char>& bytes = plan.scalars.back();
    for (const Field& field : argument.fields) {
      append(bytes, field.type, Evaluation(field.expression, values).run());
      alignment = std::max(alignment, field.type.bytes);
    }
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  }
  Step<unsigned> planned(const Step<std::string>& step, const Values& values,
                         const Device& device) const {
    // CUDA C++ Programming Guide, technical specifications per compute capability.
    static constexpr std::array<double, 3> kMostCtas = {0x1p31 - 1, 65535, 65535};
    static constexpr std::array<double, 3> kMostThreads = {1024, 1024, 64};
    Step<unsigned> result{step.entry, {1, 1, 1}, {1, 1, 1}, 0, step.arguments};
    for (std::size_t i = 0; i < step.grid.size() && i < 3; ++i) {
      result.grid[i] = static_cast<unsigned>(whole(step.grid[i], values, 1, kMostCtas[i]));
    }
    for (std::size_t i = 0; i < step.block.size() && i < 3; ++i) {
      result.block[i] = static_cast<unsigned>(whole(step.block[i], values, 1, kMostThreads[i]));
    }
    result.shared_bytes = static_cast<unsigned>(whole(step.shared_bytes, values, 0, 0x1p31 - 1));
    const double shared = result.shared_bytes + static_shared_bytes_;
    if (shared > device.shared_bytes) {
      throw Error("it takes " + text_of(shared) + " bytes of shared memory, of which " +
                  device.name + " has " + std::to_string(device.shared_bytes));
    }
    return result;
  }

  bool is_specific_ = false;
  Values macros_;
  std::vector<std::pair<std::string, std::string>> valid_;  ///< expression, why
  std::vector<Step<std::string>> steps_;
  double static_shared_bytes_ = 0;
};

}  // namespace detail
}  // namespace v1
}  // namespace evo_tune

#endif  // EVO_TUNE_KERNEL_HPP_V1
