#include "engine/gate/resource.hpp"

#include <string>

namespace evo {
namespace {

std::string over(const std::string& what, std::int64_t value, std::int64_t limit,
                 const std::string& whose) {
  return what + " " + std::to_string(value) + " > " + std::to_string(limit) + " (" + whose + ")";
}

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

}  // namespace

std::optional<Rejection> resource_gate(const Resources& resources, const LaunchConfig& launch,
                                       const ResourcePolicy& policy, const DeviceInfo& device) {
  constexpr std::int64_t kRegistersPerCta = 65536;  // register file of one SM, sm_70 and later
  constexpr std::int64_t kRegisterUnit = 8;         // allocated per thread in steps of 8,
  constexpr std::int64_t kThreadUnit = 128;         // for warps in fours, one a sub-core
  const std::int64_t shared =
      std::int64_t{resources.static_shared_bytes} + launch.dynamic_shared_bytes;
  const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const auto round_up = [](std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  const std::int64_t registers =
      round_up(resources.registers, kRegisterUnit) * round_up(threads, kThreadUnit);
  std::string device_limits;
  if (shared > device.max_shared_bytes_per_cta) {
    append(device_limits,
           over("shared bytes", shared, device.max_shared_bytes_per_cta, device.name));
  }
  if (threads > device.max_threads_per_cta) {
    append(device_limits, over("threads", threads, device.max_threads_per_cta, device.name));
  }
  if (registers > kRegistersPerCta) {
    append(device_limits,
           over("registers of a CTA", registers, kRegistersPerCta, "register file of an SM"));
  }
  if (!device_limits.empty()) return Rejection{Gate::kResource, device_limits, "", false};

  std::string limits;
  if (policy.registers_per_thread && resources.registers > *policy.registers_per_thread) {
    append(limits, over("registers", resources.registers, *policy.registers_per_thread, "policy"));
  }
  if (policy.shared_bytes_per_cta && shared > *policy.shared_bytes_per_cta) {
    append(limits, over("shared bytes", shared, *policy.shared_bytes_per_cta, "policy"));
  }
  const int spills = resources.spill_load_bytes + resources.spill_store_bytes;
  if (policy.spill_bytes && spills > *policy.spill_bytes) {
    append(limits, over("spill bytes", spills, *policy.spill_bytes, "policy"));
  }
  if (!limits.empty()) return Rejection{Gate::kResource, limits, "", true};
  return std::nullopt;
}

}  // namespace evo
