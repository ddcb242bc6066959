#include "engine/gate/resource.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace evo {
namespace {

std::string over(const std::string& what, std::int64_t value, std::int64_t limit,
                 const std::string& whose) {
  return what + " " + std::to_string(value) + " > " + std::to_string(limit) + " (" + whose + ")";
}

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

std::int64_t shared_bytes(const Resources& resources, const LaunchStep& step) {
  return std::int64_t{resources.static_shared_bytes} + step.config.dynamic_shared_bytes;
}

}  // namespace

std::string PolicyMiss::text() const {
  return what + " " + std::to_string(value) + " > " + std::to_string(limit);
}

double PolicyMiss::excess() const {
  return limit > 0 ? static_cast<double>(value) / static_cast<double>(limit)
                   : 1 + static_cast<double>(value);
}

std::vector<PolicyMiss> policy_misses(const Resources& resources, std::int64_t shared_bytes,
                                      const ResourcePolicy& policy) {
  std::vector<PolicyMiss> misses;
  const auto hold = [&](const char* what, std::int64_t value, const std::optional<int>& limit) {
    if (limit && value > *limit) misses.push_back({what, value, *limit});
  };
  hold("registers", resources.registers, policy.registers_per_thread);
  hold("shared bytes", shared_bytes, policy.shared_bytes_per_cta);
  hold("spill bytes", resources.spill_load_bytes + resources.spill_store_bytes, policy.spill_bytes);
  return misses;
}

std::vector<PolicyMiss> policy_misses(const std::vector<CompiledEntry>& entries,
                                      const LaunchPlan& plan, const ResourcePolicy& policy) {
  std::vector<PolicyMiss> worst;
  for (const LaunchStep& step : plan.steps) {
    const Resources& resources = entries.at(step.entry).resources;
    for (const PolicyMiss& miss : policy_misses(resources, shared_bytes(resources, step), policy)) {
      const auto known = std::ranges::find(worst, miss.what, &PolicyMiss::what);
      if (known == worst.end()) {
        worst.push_back(miss);
      } else if (miss.value > known->value) {
        *known = miss;
      }
    }
  }
  return worst;
}

std::int64_t largest_shared_bytes(const std::vector<CompiledEntry>& entries,
                                  const LaunchPlan& plan) {
  std::int64_t largest = 0;
  for (const LaunchStep& step : plan.steps) {
    largest = std::max(largest, shared_bytes(entries.at(step.entry).resources, step));
  }
  return largest;
}

std::optional<Rejection> resource_gate(const std::vector<CompiledEntry>& entries,
                                       const std::vector<std::string>& names,
                                       const LaunchPlan& plan, const ResourcePolicy& policy,
                                       const DeviceInfo& device) {
  std::optional<Rejection> found;
  for (const LaunchStep& step : plan.steps) {
    auto rejection = resource_gate(entries.at(step.entry).resources, step.config, policy, device);
    if (!rejection) continue;
    if (plan.steps.size() > 1) {
      rejection->reason = fmt::format("step {}: {}", names.at(step.entry), rejection->reason);
    }
    if (!found || (found->policy_only && !rejection->policy_only)) {
      found = std::move(rejection);
    } else if (found->policy_only == rejection->policy_only) {
      found->reason = fmt::format("{}; {}", found->reason, rejection->reason);
    }
  }
  return found;
}

std::optional<Rejection> resource_gate(const Resources& resources, const LaunchConfig& launch,
                                       const ResourcePolicy& policy, const DeviceInfo& device) {
  constexpr std::int64_t kRegistersPerCta = 65536;  // register file of one SM, sm_70 and later
  // The GPU rounds the number of registers of a thread up to a multiple of kRegisterUnit.
  constexpr std::int64_t kRegisterUnit = 8;
  // Registers are allocated to four warps at a time, one on each sub-core.
  constexpr std::int64_t kThreadUnit = 128;
  const std::int64_t shared =
      std::int64_t{resources.static_shared_bytes} + launch.dynamic_shared_bytes;
  const auto threads = static_cast<std::int64_t>(launch.threads());
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
  // max_threads comes from the PTX directive .maxntid: the compiler allocates registers for this
  // number of threads, and the driver refuses larger CTAs.
  if (resources.max_threads > 0 && threads > resources.max_threads) {
    append(device_limits,
           over("threads", threads, resources.max_threads, "the kernel's __launch_bounds__"));
  }
  if (!device_limits.empty()) return Rejection{Gate::kResource, device_limits, "", false};

  std::string limits;
  for (const PolicyMiss& miss : policy_misses(resources, shared, policy)) {
    append(limits, miss.text() + " (policy)");
  }
  if (!limits.empty()) return Rejection{Gate::kResource, limits, "", true};
  return std::nullopt;
}

}  // namespace evo
