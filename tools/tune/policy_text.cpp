#include "tools/tune/policy_text.hpp"

#include <fmt/format.h>

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string misses_text(const PolicyRejects::Reject& reject) {
  std::string text;
  for (const PolicyMiss& miss : reject.misses) text += (text.empty() ? "" : ", ") + miss.text();
  return text;
}

}  // namespace

std::string policy_rejects_text(const PolicyRejects& rejects, std::size_t evaluated,
                                std::size_t rejected) {
  if (rejected == 0) return {};
  std::string text = std::to_string(rejected) + " of " + std::to_string(evaluated) +
                     " candidates were rejected only by the space's policy; "
                     "the device would have run them (evo-elite rejections)\n";
  const PolicyRejects::Reject* nearest = rejects.nearest();
  if (nearest == nullptr) return text;
  std::string limits;
  for (const auto& [limit, count] : rejects.broken) {
    limits += (limits.empty() ? "" : ", ") + limit + ": " + std::to_string(count);
  }
  text += "  by limit: " + limits + "; closest to the limits: candidate " +
          std::to_string(nearest->id) + " with " + misses_text(*nearest) + "\n";
  if (rejects.wider_space) {
    text += "  a space with a wider policy: --space " + rejects.wider_space->string() + "\n";
  }
  return text;
}

std::string policy_cost_text(const PolicyCost& cost, TimeKind kind) {
  const std::string judged =
      fmt::format("of {} judged without the policy, {} green", cost.judged, cost.green);
  if (cost.best == nullptr) return "policy cost: unknown; " + judged + "\n";
  const std::string verdict = cost.without_us < cost.with_us ? "" : "none found: ";
  std::string text = fmt::format(
      "policy cost: {}{:.2f} µs (best under policy) vs {:.2f} µs (best without, {}), candidate {}, "
      "{} registers: {}; {}",
      verdict, cost.with_us, cost.without_us, to_string(kind), cost.best->id, cost.best->registers,
      misses_text(*cost.best), judged);
  if (cost.pair) {
    text += fmt::format("; A/B pairs: ratio {:.3f} ({:.3f} to {:.3f})", cost.pair->ratio,
                        cost.pair->interval.low, cost.pair->interval.high);
  }
  return text + "\n";
}

OrderedJson policy_json(const PolicyRejects& rejects, const std::optional<PolicyCost>& cost,
                        TimeKind kind) {
  OrderedJson json = {{"event", "policy"}, {"kernels", rejects.rejects.size()}};
  json["limits"] = rejects.broken;
  if (const PolicyRejects::Reject* nearest = rejects.nearest()) {
    json["nearest"] = {{"candidate", nearest->id}, {"misses", misses_text(*nearest)}};
  }
  if (rejects.wider_space) json["wider_space"] = rejects.wider_space->string();
  if (!cost) return json;
  json["judged"] = cost->judged;
  json["green"] = cost->green;
  json["kind"] = std::string(to_string(kind));
  json["with_us"] = cost->with_us;
  if (cost->best != nullptr) {
    json["without_us"] = cost->without_us;
    json["candidate"] = cost->best->id;
    json["registers"] = cost->best->registers;
  }
  if (cost->pair) {
    json["ratio"] = cost->pair->ratio;
    json["ratio_low"] = cost->pair->interval.low;
    json["ratio_high"] = cost->pair->interval.high;
  }
  return json;
}

}  // namespace evo
