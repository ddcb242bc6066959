#include "engine/intake/probe_device.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/problem/dtype.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

constexpr std::uint64_t kMostElements = 1ULL << 22;
/// limit of warp instructions of all launches together
constexpr std::uint64_t kMostInstructions = 400'000'000;

std::vector<Expression> parsed(const std::vector<std::string>& texts) {
  std::vector<Expression> list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

bool is_parameter(const DraftArgument& argument) { return argument.kind != Kind::kConstant; }

Dtype dtype_of(const DraftArgument& argument) {
  return argument.kind == Kind::kTexture ? Dtype::kF32 : dtype_from_string(argument.dtype);
}

}  // namespace

std::string virtual_device_for(const std::string& arch) {
  if (arch.starts_with("sm_9") || arch.starts_with("sm_1")) return "virtual:h200";
  return arch < "sm_89" ? "virtual:a100" : "virtual:l4";
}

ProbeDevice::ProbeDevice(const std::vector<ProbeKernel>& kernels, const Draft& draft)
    : kernels_(kernels), draft_(draft) {
  device_ = open_virtual_device(virtual_device_for(draft.arch), {.threads = 1,
                                                                 .checks = false,
                                                                 .max_hazards = 1,
                                                                 .stall_budget = 1'000'000,
                                                                 .issue_budget = 20'000'000});
}

KernelId ProbeDevice::loaded(std::size_t kernel) {
  const auto known = loaded_.find(kernel);
  if (known != loaded_.end()) return known->second;
  auto answer = device_->load(
      {.ptx = kernels_[kernel].ptx, .cubin = {}, .entries = kernels_[kernel].symbols});
  if (const auto* fault = std::get_if<Fault>(&answer)) throw InputError(fault->reason);
  return loaded_[kernel] = std::get<KernelId>(answer);
}

void ProbeDevice::release_ample() {
  for (const auto& [unused, texture] : textures_) device_->textures()->release_texture(texture);
  for (const auto& [unused, buffer] : ample_) device_->memory().release(buffer);
  textures_.clear();
  ample_.clear();
}

void ProbeDevice::prepare(std::size_t kernel, const Values& values, ProbeContent content,
                          std::uint64_t needed) {
  release_ample();
  has_failed_ = false;
  kernel_ = kernel;
  values_ = values;
  content_ = content;
  double product = 1;
  double square = 1;
  for (const auto& [name, unused] : draft_.variables) {
    product *= values.at(name) + 32;
    square = std::max(square, values.at(name) * values.at(name));
  }
  if (needed == 0) needed = static_cast<std::uint64_t>(4 * std::max(product, square));
  ample_elements_ = std::min(kMostElements, needed + kLeastAmple);
  for (std::size_t a = 0; a < draft_.arguments.size(); ++a) {
    const DraftArgument& argument = draft_.arguments[a];
    if (!is_parameter(argument) || argument.kind == Kind::kScalar) continue;
    ample_[a] = make(a, ample_elements_);
    if (argument.kind != Kind::kTexture) continue;
    constexpr std::size_t kSide = 16;
    textures_[a] =
        device_->textures()->make_texture({.name = argument.name,
                                           .channels = 4,
                                           .width = kSide,
                                           .height = argument.dimensions > 1 ? kSide : 0},
                                          ample_[a]);
  }
}

BufferId ProbeDevice::make(std::size_t argument, std::uint64_t elements) {
  const DraftArgument& about = draft_.arguments[argument];
  const std::uint64_t bytes = elements * size_of(dtype_of(about));
  const BufferId buffer = device_->memory().allocate({about.name, bytes, true});
  fill(buffer, argument, elements);
  return buffer;
}

void ProbeDevice::fill(BufferId buffer, std::size_t argument, std::uint64_t elements) {
  const DraftArgument& about = draft_.arguments[argument];
  if (content_ == ProbeContent::kZeros || about.kind == Kind::kWorkspace) {
    device_->memory().fill(buffer, std::byte{0});
    return;
  }
  const Dtype dtype = dtype_of(about);
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(elements * size);
  if (content_ == ProbeContent::kSmallNumbers) {
    // Fills an integer buffer with the numbers 1 to 8, and a floating-point buffer with half of
    // these numbers, in an order that differs between arguments.
    constexpr std::size_t kPeriod = 8;
    std::vector<std::byte> pattern(kPeriod * size);
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const double number = static_cast<double>(1 + (5 * i + argument) % kPeriod);
      encode(dtype, is_floating(dtype) ? number / 2 : number, &pattern[i * size]);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern[i % pattern.size()];
  } else {
    std::mt19937_64 random(argument);
    for (std::size_t i = 0; i < elements; ++i) {
      const std::uint64_t bits = random();
      if (is_floating(dtype)) {
        encode(dtype, static_cast<double>(bits % 2001) - 1000, &bytes[i * size]);
      } else {
        std::memcpy(&bytes[i * size], &bits, size);
      }
    }
  }
  device_->memory().upload(buffer, bytes);
}

void ProbeDevice::restore_ample() {
  if (!std::exchange(has_failed_, false)) return;
  for (const auto& [argument, buffer] : ample_) {
    const DraftArgument& about = draft_.arguments[argument];
    if (about.is_written() || about.kind == Kind::kWorkspace)
      fill(buffer, argument, ample_elements_);
  }
}

/// The value of a scalar argument for a launch. A floating-point scalar without a given value gets
/// 1 or 1/2, because such a scalar is probably not a size.
KernelArgument ProbeDevice::scalar(std::size_t argument) const {
  const DraftArgument& about = draft_.arguments[argument];
  const Dtype dtype = dtype_from_string(about.dtype);
  ScalarArgument value;
  value.bytes.resize(size_of(dtype));
  const double unknown = content_ == ProbeContent::kZeros ? 1 : 0.5;
  encode(dtype, is_todo(about.value) ? unknown : Expression(about.value).evaluate(values_),
         value.bytes.data());
  return value;
}

LaunchPlan ProbeDevice::plan(const Bounds& bounds) const {
  const auto config = [&](const std::vector<std::string>& grid,
                          const std::vector<std::string>& block, const std::string& shared) {
    const LaunchExpressions launch{
        parsed(grid), parsed(block),
        Expression(is_todo(shared) ? std::to_string(bounds.shared_bytes) : shared)};
    return launch.evaluate(values_);
  };
  const LaunchConfig first = config(draft_.grid, draft_.block, draft_.dynamic_shared_bytes);
  if (draft_.later_steps.empty()) return first;
  const auto positions = [&](const std::vector<std::string>& names) {
    std::vector<std::size_t> list;
    for (const std::string& name : names) {
      const auto at = std::ranges::find_if(
          draft_.arguments, [&](const auto& argument) { return argument.name == name; });
      list.push_back(static_cast<std::size_t>(at - draft_.arguments.begin()));
    }
    return list;
  };
  std::vector<LaunchStep> steps = {{first, 0, positions(draft_.step_arguments)}};
  for (const DraftStep& step : draft_.later_steps) {
    steps.push_back({config(step.grid, step.block, step.dynamic_shared_bytes), steps.size(),
                     positions(step.arguments)});
  }
  return LaunchPlan(std::move(steps));
}

std::optional<std::string> ProbeDevice::fault(const Bounds& bounds) {
  if (is_exhausted()) return "running the kernel with small sizes takes too long";
  restore_ample();
  std::vector<BufferId> own;
  std::optional<std::string> reason;
  try {
    const KernelId kernel = loaded(kernel_);
    std::vector<KernelArgument> arguments;
    for (std::size_t a = 0; a < draft_.arguments.size(); ++a) {
      const DraftArgument& argument = draft_.arguments[a];
      if (!is_parameter(argument)) continue;
      const auto bound = bounds.elements.find(a);
      if (argument.kind == Kind::kScalar) {
        arguments.push_back(scalar(a));
      } else if (const auto texture = textures_.find(a); texture != textures_.end()) {
        arguments.push_back(texture->second);
      } else if (bound == bounds.elements.end()) {
        arguments.push_back(ample_.at(a));
      } else {
        own.push_back(make(a, bound->second));
        arguments.push_back(own.back());
      }
    }
    const auto found = device_->launch(kernel, plan(bounds), arguments);
    executed_ += device_->statistics().warp_instructions;
    if (found) {
      reason = found->reason;
      has_failed_ = true;
      device_->unload(kernel);
      loaded_.erase(kernel_);
    }
  } catch (const InputError& error) {
    reason = error.what();
  }
  for (const BufferId buffer : own) device_->memory().release(buffer);
  return reason;
}

bool ProbeDevice::leaves_elements(std::size_t argument) {
  double extent = 0;
  try {
    extent = Expression(draft_.arguments[argument].extent).evaluate(values_);
  } catch (const InputError&) {
    return false;  // not an extent for these sizes
  }
  if (extent < 1 || extent > static_cast<double>(ample_elements_)) return false;
  const auto elements = static_cast<std::uint64_t>(extent);
  restore_ample();
  const BufferId ample = ample_.at(argument);
  const BufferId buffer = make(argument, elements);
  constexpr std::byte kPattern{0xff};
  device_->memory().poison(buffer, {&kPattern, 1});
  ample_[argument] = buffer;
  const auto reason = fault({});
  const bool leaves = !reason && device_->interpreting()->first_unwritten(buffer).has_value();
  ample_[argument] = ample;
  device_->memory().release(buffer);
  return leaves;
}

bool ProbeDevice::is_exhausted() const { return executed_ > kMostInstructions; }

}  // namespace evo
