#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/evolve/insight.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string setting(const CandidateSpace& space, std::size_t parameter, std::size_t value) {
  return std::string(space.parameter_name(parameter)) + " " + space.value_text(parameter, value);
}

std::string failures_text(const ValueInsight& value) {
  std::string text;
  for (std::size_t gate = 0; gate < value.failures.size(); ++gate) {
    if (value.failures[gate] == 0) continue;
    text += fmt::format("{}{} at the {} gate", text.empty() ? "" : ", ", value.failures[gate],
                        to_string(static_cast<Gate>(gate)));
  }
  return text;
}

/// An effect as text, such as "in 3 pairs near the winner +9.3 % (+8.4 to +10.0)".
std::string pairs_text(const PairEffect& effect) {
  const std::string middle = fmt::format("{:+.1f} %", log_percent(effect.middle));
  if (effect.pairs == 1) return fmt::format("in 1 pair near the winner {}", middle);
  return fmt::format("in {} pairs near the winner {} ({:+.1f} to {:+.1f})", effect.pairs, middle,
                     log_percent(effect.low), log_percent(effect.high));
}

/// The effect of a value as text, such as "+9.3 % in the winner: slower; in 3 pairs near the
/// winner …".
/// Requires that `value.effect` is set.
std::string effect_text(const ValueInsight& value) {
  const PairEffect& effect = *value.effect;
  if (!effect.in_winner) {
    return pairs_text(effect) + "; not tried in the winner itself" +
           (value.is_allowed_in_winner ? "" : ", the space forbids it there");
  }
  const PairVerdict verdict = effect.verdict();
  const std::string text = fmt::format(
      "{:+.1f} % in the winner: {}", log_percent(*effect.in_winner),
      verdict == PairVerdict::kSame ? fmt::format("the same within {:.0f} %", 100 * kSameTime)
                                    : std::string(to_string(verdict)));
  return effect.pairs == 1 ? text : text + "; " + pairs_text(effect);
}

/// Says why the effect of a value is unknown.
std::string no_effect_text(const ValueInsight& value) {
  if (value.failed_in_winner) {
    return fmt::format("in the winner it failed the {} gate", to_string(*value.failed_in_winner));
  }
  if (value.runs == 0) return "never passed";
  const std::string untried = "not tried near the winner";
  return value.is_allowed_in_winner ? untried : untried + ", the space forbids it in the winner";
}

std::string value_line(const CandidateSpace& space, const KnobInsight& knob,
                       const ValueInsight& value) {
  std::string line = "      " + space.value_text(value.parameter, value.value) + ": ";
  if (value.value == knob.best_value) {
    line += "the winner's";
  } else {
    line += value.effect ? effect_text(value) : no_effect_text(value);
  }
  line += " (" + counted(value.runs, "run");
  if (value.failed() > 0) line += "; failed: " + failures_text(value);
  return line + ")\n";
}

void put_effect(OrderedJson& json, const PairEffect& effect) {
  json["pairs"] = effect.pairs;
  json["verdict"] = to_string(effect.verdict());
  json["effect_percent"] = log_percent(effect.middle);
  json["low_percent"] = log_percent(effect.low);
  json["high_percent"] = log_percent(effect.high);
  if (effect.in_winner) json["in_winner_percent"] = log_percent(*effect.in_winner);
}

OrderedJson value_json(const CandidateSpace& space, const ValueInsight& value) {
  OrderedJson json;
  json["macro"] = space.parameter_name(value.parameter);
  json["value"] = space.value_text(value.parameter, value.value);
  json["runs"] = value.runs;
  json["failures"] = OrderedJson::object();
  for (std::size_t gate = 0; gate < value.failures.size(); ++gate) {
    if (value.failures[gate] == 0) continue;
    json["failures"][std::string(to_string(static_cast<Gate>(gate)))] = value.failures[gate];
  }
  json["allowed_in_winner"] = value.is_allowed_in_winner;
  if (value.failed_in_winner) json["failed_in_winner"] = to_string(*value.failed_in_winner);
  if (value.effect) {
    put_effect(json, *value.effect);
  } else {
    json["pairs"] = 0;
  }
  return json;
}

OrderedJson interaction_json(const CandidateSpace& space, const InteractionInsight& square) {
  OrderedJson json;
  for (std::size_t side = 0; side < 2; ++side) {
    json["settings"].push_back(
        {{"macro", space.parameter_name(square.parameter[side])},
         {"value", space.value_text(square.parameter[side], square.value[side])}});
  }
  put_effect(json, square.beyond);
  json.erase("verdict");
  json["squares"] = json["pairs"];
  json.erase("pairs");
  return json;
}

OrderedJson knob_json(const CandidateSpace& space, const KnobInsight& knob) {
  OrderedJson json;
  json["macro"] = space.parameter_name(knob.parameter);
  json["best"] = space.value_text(knob.parameter, knob.best_value);
  json["importance"] = knob.importance;
  json["near_importance"] =
      knob.near_importance ? OrderedJson(*knob.near_importance) : OrderedJson();
  for (const ValueInsight& value : knob.values) json["values"].push_back(value_json(space, value));
  return json;
}

/// The lines before the list of macros, which explain the figures.
std::string head_text(const Insight& insight) {
  if (!insight.best) return {};
  std::string text = fmt::format("winner: {:.2f} us\n", insight.best_us);
  text += fmt::format(
      "importance: the share of the variance of ln time that a macro explains in an additive "
      "model; the whole model explains {:.0f} % among all candidates that ran; ",
      100 * insight.explained);
  text +=
      insight.near_explained
          ? fmt::format("{:.0f} % among the {} within twice the winner's time\n",
                        100 * *insight.near_explained, insight.near_runs)
          : fmt::format(
                "only {} candidates ran within twice the winner's time, too few for this figure\n",
                insight.near_runs);
  return text +
         fmt::format(
             "effects: the time with a value / the time with the winner's value, in pairs of "
             "candidates that differ in nothing else; the second candidate is near the winner, so "
             "it differs from the winner in at most {} macros and takes at most twice the "
             "winner's time: median (smallest to largest)\n",
             NearbyPairs::kNearMacros);
}

std::string knob_text(const CandidateSpace& space, const KnobInsight& knob) {
  std::string text = fmt::format("  {}: {:.0f} % overall", space.parameter_name(knob.parameter),
                                 100 * knob.importance);
  if (knob.near_importance) {
    text += fmt::format(", {:.0f} % near the winner", 100 * *knob.near_importance);
  }
  text += "\n";
  for (const ValueInsight& value : knob.values) text += value_line(space, knob, value);
  return text;
}

}  // namespace

std::string insight_text(const CandidateSpace& space, const Insight& insight) {
  std::string text =
      fmt::format("{}, {} failed\n", counted(insight.evaluations, "evaluation"), insight.failed);
  text += head_text(insight);
  for (const KnobInsight& knob : insight.knobs) text += knob_text(space, knob);
  if (!insight.interactions.empty()) {
    text +=
        "joint effects of two values, beyond the sum of their effects, from squares of four "
        "candidates near the winner\n";
  }
  for (const InteractionInsight& square : insight.interactions) {
    text += fmt::format("  {} with {}: {:+.1f} % ({})\n",
                        setting(space, square.parameter[0], square.value[0]),
                        setting(space, square.parameter[1], square.value[1]),
                        log_percent(square.beyond.middle), counted(square.beyond.pairs, "square"));
  }
  if (!insight.only_failed.empty()) text += "values that always failed\n";
  for (const ValueInsight& value : insight.only_failed) {
    text +=
        "  " + setting(space, value.parameter, value.value) + ": " + failures_text(value) + "\n";
  }
  if (!insight.negatives.empty()) {
    text += "valid negatives: tried in the winner, and not faster\n";
  }
  for (const ValueInsight& value : insight.negatives) {
    text += "  " + setting(space, value.parameter, value.value) + ": " + effect_text(value) + "\n";
  }
  return text;
}

std::string insight_json(const CandidateSpace& space, const Insight& insight) {
  OrderedJson json;
  json["evaluations"] = insight.evaluations;
  json["failed"] = insight.failed;
  if (insight.best) {
    json["best_us"] = insight.best_us;
    json["explained"] = insight.explained;
    json["near_runs"] = insight.near_runs;
    json["near_explained"] =
        insight.near_explained ? OrderedJson(*insight.near_explained) : OrderedJson();
    json["near_macros"] = NearbyPairs::kNearMacros;
    json["same_percent"] = 100 * kSameTime;
  }
  json["knobs"] = OrderedJson::array();
  for (const KnobInsight& knob : insight.knobs) json["knobs"].push_back(knob_json(space, knob));
  json["interactions"] = OrderedJson::array();
  for (const InteractionInsight& square : insight.interactions) {
    json["interactions"].push_back(interaction_json(space, square));
  }
  const auto list = [&](const std::vector<ValueInsight>& values) {
    OrderedJson array = OrderedJson::array();
    for (const ValueInsight& value : values) array.push_back(value_json(space, value));
    return array;
  };
  json["only_failed"] = list(insight.only_failed);
  json["negatives"] = list(insight.negatives);
  return json.dump();
}

}  // namespace evo
