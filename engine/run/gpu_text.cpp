#include "engine/run/gpu_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace evo {
namespace {

std::string in_timings(std::int64_t count, std::int64_t all) {
  return count == all ? fmt::format("throughout the run ({} timings)", all)
                      : fmt::format("in {} of {} timings", count, all);
}

std::string slowdowns_text(const GpuSummary& summary) {
  std::string text;
  for (const auto& [slowdown, count] : summary.slowdowns) {
    if (!spoils_times(slowdown)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(slowdown));
  }
  return text.empty() ? "no reason reported" : text;
}

std::string throttled_text(const GpuSummary& summary) {
  if (summary.throttled == 0 && summary.discarded == 0) return {};
  std::string clocks;
  if (summary.sm_clock_min_mhz) {
    clocks = fmt::format("; SM clock down to {:.0f} MHz, {:.0f} at best", *summary.sm_clock_min_mhz,
                         *summary.sm_clock_max_mhz);
  }
  if (summary.throttled == 0) {
    return fmt::format("{} samples of a throttled GPU were discarded and repeated ({}{})\n",
                       summary.discarded, slowdowns_text(summary), clocks);
  }
  return fmt::format(
      "THROTTLED: the GPU was throttled {} ({}{}): {} samples were repeated without success; "
      "these "
      "times are too long\n",
      in_timings(summary.throttled, summary.timings), slowdowns_text(summary), clocks,
      summary.discarded);
}

/// Says that other processes used the GPU. Names the process that was seen most often, and the
/// number of further processes.
std::string shared_text(const GpuSummary& summary) {
  if (summary.shared == 0) {
    if (summary.busy_before_percent == 0) return {};
    return fmt::format(
        "SHARED: other processes kept the GPU {:.0f} % busy before this run launched anything "
        "(they "
        "are not listed here); the times are unreliable\n",
        summary.busy_before_percent);
  }
  std::vector<std::pair<std::string, std::int64_t>> others(summary.others.begin(),
                                                           summary.others.end());
  std::ranges::stable_sort(others, std::ranges::greater(), &decltype(others)::value_type::second);
  const std::string those =
      others.size() > 1 ? fmt::format(" and {} more were", others.size() - 1) : std::string(" was");
  return fmt::format("SHARED: process {}{} on the GPU {}; times are too long while {}\n",
                     others.front().first, those, in_timings(summary.shared, summary.timings),
                     others.size() > 1 ? "they compute" : "it computes");
}

}  // namespace

std::string gpu_text(const GpuSummary& summary) {
  std::string text = throttled_text(summary) + shared_text(summary);
  const auto capped = summary.slowdowns.find(Slowdown::kPowerCap);
  if (capped != summary.slowdowns.end()) {
    text += fmt::format("note: the GPU ran at its power limit {}, as is normal under heavy load\n",
                        in_timings(capped->second, summary.timings));
  }
  return text;
}

std::string gpu_text(const GpuState& state) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (state.sm_clock_median_mhz && state.sm_clock_min_mhz) {
    add(fmt::format("SM {:.0f} MHz ({:.0f} at least)", *state.sm_clock_median_mhz,
                    *state.sm_clock_min_mhz));
  }
  if (state.memory_clock_mhz) add(fmt::format("memory {:.0f} MHz", *state.memory_clock_mhz));
  if (state.temperature_c) add(fmt::format("{:.0f} °C", *state.temperature_c));
  if (state.power_w) add(fmt::format("{:.0f} W", *state.power_w));
  for (const Slowdown slowdown : state.slowdowns) add(std::string(to_string(slowdown)));
  if (state.discarded > 0) add(fmt::format("{} samples repeated", state.discarded));
  if (state.throttled) add("THROTTLED");
  for (const std::string& other : state.others) add(fmt::format("SHARED with process {}", other));
  if (state.busy_before_percent) {
    add(fmt::format("SHARED: {:.0f} % busy before", *state.busy_before_percent));
  }
  return text;
}

}  // namespace evo
