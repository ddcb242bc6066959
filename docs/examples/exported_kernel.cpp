#include "exported_kernel.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 37;  // of one argument: no GPU holds more
constexpr std::uint64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A whole number from `least` to `most`; `what` names it in the message.
double whole(const json& value, const std::string& what, double least, double most) {
  const double number = value.is_number() ? value.get<double>() : least - 1;
  if (number >= least && number <= most && number == std::floor(number)) return number;
  throw std::runtime_error(
      what + ": " + value.dump(-1, ' ', false, json::error_handler_t::replace) +
      " is not a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

double finite(const json& object, const char* key) {
  const json& value = object.at(key);
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  throw std::runtime_error(std::string(key) + ": not a finite number");
}

unsigned size_of(const json& expression, const std::string& what, double least) {
  return static_cast<unsigned>(whole(expression.at("value"), what, least, 0x7fffffff));
}

std::array<unsigned, 3> dimensions(const json& list, const std::string& what) {
  std::array<unsigned, 3> result = {1, 1, 1};
  for (std::size_t i = 0; i < list.size() && i < result.size(); ++i)
    result[i] = size_of(list.at(i), what, 1);
  return result;
}

/// `kernel`: the manifest, or one of its steps. `names`: of all arguments.
Step read_step(const json& kernel, const std::vector<std::string>& names) {
  const json& launch = kernel.at("launch");
  Step step{kernel.at("entry"),
            dimensions(launch.at("grid"), "grid"),
            dimensions(launch.at("block"), "block"),
            size_of(launch.at("dynamic_shared_bytes"), "dynamic_shared_bytes", 0),
            {}};
  for (std::size_t i = 0; i < names.size() && !kernel.contains("runs"); ++i) {
    step.arguments.push_back(i);
  }
  if (!kernel.contains("runs")) return step;
  for (const json& name : kernel.at("arguments")) {
    const auto named = std::find(names.begin(), names.end(), name.get<std::string>());
    if (named == names.end()) {
      throw std::runtime_error(step.entry + ": there is no argument " + name.get<std::string>());
    }
    step.arguments.push_back(static_cast<std::size_t>(named - names.begin()));
  }
  return step;
}

/// A small float: 1 sign bit, then exponent, then mantissa.
struct FloatFormat {
  int mantissa_bits;
  int bias;
  int exponent_bits;
};

constexpr FloatFormat kE4m3{3, 7, 4};
constexpr FloatFormat kE5m2{2, 15, 5};
constexpr FloatFormat kF16{10, 15, 5};
constexpr FloatFormat kBf16{7, 127, 8};

const FloatFormat* small_float(const std::string& dtype) {
  if (dtype == "e4m3") return &kE4m3;
  if (dtype == "e5m2") return &kE5m2;
  if (dtype == "f16") return &kF16;
  return dtype == "bf16" ? &kBf16 : nullptr;
}

double decode_small(const std::string& dtype, const FloatFormat& format, unsigned bits) {
  const unsigned mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const unsigned top = (1U << format.exponent_bits) - 1;
  const unsigned exponent = (bits >> format.mantissa_bits) & top;
  const bool negative = ((bits >> (format.mantissa_bits + format.exponent_bits)) & 1U) != 0;
  double magnitude = 0;
  if (dtype == "e4m3" && exponent == top && mantissa == 7) {
    magnitude = std::numeric_limits<double>::quiet_NaN();  // e4m3 has no infinity.
  } else if (dtype != "e4m3" && exponent == top) {
    magnitude = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  } else {
    magnitude = std::ldexp(mantissa + (1U << format.mantissa_bits),
                           static_cast<int>(exponent) - format.bias - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

/// The nearest finite value, ties to even: found by bisection over the ordered bit patterns.
unsigned encode_small(const std::string& dtype, const FloatFormat& format, double value) {
  const unsigned sign =
      std::signbit(value) ? 1U << (format.mantissa_bits + format.exponent_bits) : 0;
  const double magnitude = std::fabs(value);
  const unsigned infinity = ((1U << format.exponent_bits) - 1) << format.mantissa_bits;
  unsigned low = 0;
  unsigned high = dtype == "e4m3" ? 0x7E : infinity - 1;  // the largest finite value
  if (magnitude >= decode_small(dtype, format, high)) return sign | high;
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (decode_small(dtype, format, middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - decode_small(dtype, format, low);
  const double above = decode_small(dtype, format, high) - magnitude;
  const bool up = above < below || (above == below && low % 2 == 1);
  return sign | (up ? high : low);
}

template <typename T>
double load(const std::byte* source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return static_cast<double>(value);
}

template <typename T>
void store(double value, std::byte* target) {
  T converted{};
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    const double rounded = std::round(value);
    if (rounded >= static_cast<double>(Limits::max())) {
      converted = Limits::max();
    } else if (rounded <= static_cast<double>(Limits::min())) {
      converted = Limits::min();
    } else if (rounded == rounded) {
      converted = static_cast<T>(rounded);
    }
  } else {
    converted = static_cast<T>(value);
  }
  std::memcpy(target, &converted, sizeof(T));
}

double draw(const json& generator, std::mt19937_64& random) {
  const std::string kind = generator.at("distribution");
  if (kind == "constant") return finite(generator, "value");
  if (kind == "normal") {
    const double deviation = finite(generator, "std");
    if (deviation < 0) throw std::runtime_error("std: below 0");
    if (deviation == 0) return finite(generator, "mean");
    return std::normal_distribution<double>(finite(generator, "mean"), deviation)(random);
  }
  if (kind != "uniform" && kind != "integers")
    throw std::runtime_error("unknown distribution " + kind);
  const double low = finite(generator, "low");
  const double high = finite(generator, "high");
  if (low > high || !std::isfinite(high - low)) throw std::runtime_error("low is above high");
  if (kind == "uniform") return std::uniform_real_distribution<double>(low, high)(random);
  for (const char* key : {"low", "high"}) {
    const json& bound = generator.at(key);
    if (!bound.is_number_integer() || (bound.is_number_unsigned() && bound > kMostInteger))
      throw std::runtime_error(std::string(key) + ": not an integer of 64 bits");
  }
  return static_cast<double>(std::uniform_int_distribution<std::int64_t>(
      generator.at("low").get<std::int64_t>(), generator.at("high").get<std::int64_t>())(random));
}

}  // namespace

std::size_t element_size(const std::string& dtype) {
  for (const auto& [name, size] :
       std::initializer_list<std::pair<const char*, std::size_t>>{{"e4m3", 1},
                                                                  {"e5m2", 1},
                                                                  {"i8", 1},
                                                                  {"u8", 1},
                                                                  {"f16", 2},
                                                                  {"bf16", 2},
                                                                  {"f32", 4},
                                                                  {"i32", 4},
                                                                  {"u32", 4},
                                                                  {"f64", 8},
                                                                  {"i64", 8},
                                                                  {"u64", 8}}) {
    if (dtype == name) return size;
  }
  throw std::runtime_error("unknown dtype " + dtype);
}

double decode(const std::string& dtype, const std::byte* source) {
  if (const FloatFormat* format = small_float(dtype)) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, source, element_size(dtype));
    return decode_small(dtype, *format, bits);
  }
  if (dtype == "f32") return load<float>(source);
  if (dtype == "f64") return load<double>(source);
  if (dtype == "i8") return load<std::int8_t>(source);
  if (dtype == "u8") return load<std::uint8_t>(source);
  if (dtype == "i32") return load<std::int32_t>(source);
  if (dtype == "u32") return load<std::uint32_t>(source);
  if (dtype == "i64") return load<std::int64_t>(source);
  return load<std::uint64_t>(source);
}

void encode(const std::string& dtype, double value, std::byte* target) {
  if (const FloatFormat* format = small_float(dtype)) {
    const auto bits = static_cast<std::uint16_t>(encode_small(dtype, *format, value));
    std::memcpy(target, &bits, element_size(dtype));
  } else if (dtype == "f32") {
    store<float>(value, target);
  } else if (dtype == "f64") {
    store<double>(value, target);
  } else if (dtype == "i8") {
    store<std::int8_t>(value, target);
  } else if (dtype == "u8") {
    store<std::uint8_t>(value, target);
  } else if (dtype == "i32") {
    store<std::int32_t>(value, target);
  } else if (dtype == "u32") {
    store<std::uint32_t>(value, target);
  } else if (dtype == "i64") {
    store<std::int64_t>(value, target);
  } else {
    store<std::uint64_t>(value, target);
  }
}

Manifest::Manifest(const std::string& file)
    : Manifest(nlohmann::json::parse(read_file(file)), file) {}

Manifest::Manifest(nlohmann::json content, const std::string& file) : json(std::move(content)) {
  if (json.value("format", "") != "evo-tune kernel 1") {
    throw std::runtime_error(file + ": is not a kernel exported by evo-tune");
  }
  cubin = read_file(std::filesystem::path(file).parent_path() / json.at("cubin"));
  const std::string arch = json.at("arch");  // sm_90 or sm_90a
  const auto [end, error] = std::from_chars(arch.data() + std::min<std::size_t>(3, arch.size()),
                                            arch.data() + arch.size(), compute_capability);
  if (!arch.starts_with("sm_") || error != std::errc() || end + 1 < arch.data() + arch.size())
    throw std::runtime_error(file + ": arch: '" + arch + "' is not such as sm_90 or sm_90a");
  arch_specific = std::isdigit(static_cast<unsigned char>(arch.back())) == 0;
  std::vector<std::string> names;
  for (const auto& argument : json.at("arguments")) names.push_back(argument.at("name"));
  if (!json.contains("steps")) steps.push_back(read_step(json, names));
  for (const auto& item : json.value("steps", nlohmann::json::array())) {
    if (item.at("runs").get<bool>()) steps.push_back(read_step(item, names));
  }
  if (steps.empty()) throw std::runtime_error(file + ": no step runs");
}

std::vector<KernelArgument> Manifest::make_arguments(std::mt19937_64& random) const {
  std::vector<KernelArgument> arguments;
  for (const auto& item : json.at("arguments")) {
    const bool is_drawn = !item.contains("generator") || item["generator"].contains("distribution");
    if (item.contains("kind") || item.contains("fields") || !is_drawn) {
      throw std::runtime_error("argument '" + item.at("name").get<std::string>() +
                               "': not supported by this example: __constant__ variables, "
                               "textures, structures, inputs from formulas and files");
    }
    KernelArgument argument{item.at("name"), item.at("direction"), item.at("dtype"), {}};
    const std::size_t size = element_size(argument.dtype);
    if (argument.direction == "scalar") {
      argument.bytes.resize(size);
      encode(argument.dtype, finite(item.at("value"), "value"), argument.bytes.data());
    } else {
      const double most = static_cast<double>(kMostBytes / size);
      const auto count = static_cast<std::size_t>(
          whole(item.at("extent").at("value"), argument.name + ": extent", 0, most));
      const bool output = argument.direction == "out";
      argument.bytes.assign(count * size, output ? std::byte{0xFF} : std::byte{0});
      if (argument.direction == "in" || argument.direction == "inout") {
        for (std::size_t i = 0; i < count; ++i) {
          encode(argument.dtype, draw(item.at("generator"), random), &argument.bytes[i * size]);
        }
      }
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::size_t Manifest::variable(const std::string& name) const {
  return static_cast<std::size_t>(
      whole(json.at("shape").at("variables").at(name), name, 0, 0x7fffffff));
}

ExportedKernel::ExportedKernel(const Gpu& gpu, const Manifest& manifest,
                               const std::vector<KernelArgument>& arguments)
    : gpu_(&gpu), module_(gpu, manifest.cubin), steps_(manifest.steps) {
  for (const Step& step : steps_) {
    // One kernel may be launched by several steps: it is allowed the most that any of them needs.
    unsigned shared_bytes = 0;
    for (const Step& other : steps_) {
      if (other.entry == step.entry) {
        shared_bytes = std::max(shared_bytes, other.dynamic_shared_bytes);
      }
    }
    functions_.push_back(module_.function(step.entry, shared_bytes));
  }
  for (const KernelArgument& argument : arguments) {
    Parameter parameter{.name = argument.name};
    if (argument.direction == "scalar") {
      std::copy(argument.bytes.begin(), argument.bytes.end(), parameter.value.begin());
    } else {
      parameter.buffer = static_cast<int>(buffers_.size());
      Buffer& buffer = buffers_.emplace_back(gpu, argument.bytes.size());
      if (!argument.bytes.empty()) buffer.upload(argument.bytes);
      const CUdeviceptr address = buffer.address();
      std::memcpy(parameter.value.data(), &address, sizeof(address));
    }
    parameters_.push_back(std::move(parameter));
  }
}

void ExportedKernel::launch() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    std::vector<void*> pointers;
    for (const std::size_t argument : step.arguments) {
      pointers.push_back(parameters_.at(argument).value.data());
    }
    launch_kernel(*gpu_, functions_[i], step.grid, step.block, step.dynamic_shared_bytes, pointers);
  }
}

std::vector<std::byte> ExportedKernel::download(const std::string& name) const {
  for (const Parameter& parameter : parameters_) {
    if (parameter.name != name || parameter.buffer < 0) continue;
    const Buffer& buffer = buffers_[static_cast<std::size_t>(parameter.buffer)];
    std::vector<std::byte> bytes(buffer.bytes());
    buffer.download(bytes);
    return bytes;
  }
  throw std::runtime_error("the kernel has no buffer " + name);
}
