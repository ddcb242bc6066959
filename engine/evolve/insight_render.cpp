#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/evolve/insight.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string formatted(const char* format, double value) {
  char text[64];
  (void)std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string counted(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string percent_text(const LogEffect& effect) {
  return formatted("%+.1f %% ± ", effect.percent()) +
         formatted("%.1f", effect.percent_half_width());
}

std::string setting(const CandidateSpace& space, std::size_t parameter, std::size_t value) {
  return std::string(space.parameter_name(parameter)) + " " + space.value_text(parameter, value);
}

std::string failures_text(const ValueInsight& value) {
  std::string text;
  for (std::size_t gate = 0; gate < value.failures.size(); ++gate) {
    if (value.failures[gate] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(value.failures[gate]) + " at the " +
            std::string(to_string(static_cast<Gate>(gate))) + " gate";
  }
  return text;
}

std::string value_line(const CandidateSpace& space, const KnobInsight& knob,
                       const ValueInsight& value) {
  std::string line = "      " + space.value_text(value.parameter, value.value) + ": ";
  if (value.value == knob.best_value) {
    line += "the best candidate's";
  } else if (value.effect) {
    line += percent_text(*value.effect);
  } else {
    line += "never passed";
  }
  line += " (" + counted(value.runs, "run");
  if (value.failed() > 0) line += "; failed: " + failures_text(value);
  return line + ")\n";
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
  if (value.effect) {
    json["effect_percent"] = value.effect->percent();
    json["half_width_percent"] = value.effect->percent_half_width();
  }
  return json;
}

OrderedJson interaction_json(const CandidateSpace& space, const InteractionInsight& pair) {
  OrderedJson json;
  for (std::size_t side = 0; side < 2; ++side) {
    json["settings"].push_back(
        {{"macro", space.parameter_name(pair.parameter[side])},
         {"value", space.value_text(pair.parameter[side], pair.value[side])}});
  }
  json["runs"] = pair.runs;
  json["effect_percent"] = pair.effect.percent();
  json["half_width_percent"] = pair.effect.percent_half_width();
  return json;
}

}  // namespace

std::string insight_text(const CandidateSpace& space, const Insight& insight) {
  std::string text = counted(insight.evaluations, "evaluation") + ", " +
                     std::to_string(insight.failed) + " failed\n";
  if (insight.best) {
    text += formatted("best: %.2f us; ", insight.best_us) +
            formatted("single knobs explain %.0f %% of the variance of ln time\n",
                      100 * insight.explained);
    text +=
        "knobs, most important first; effects against the best candidate's value, all else "
        "equal, with 95 % intervals\n";
  }
  for (const KnobInsight& knob : insight.knobs) {
    text += "  " + std::string(space.parameter_name(knob.parameter)) +
            formatted(": %.0f %%\n", 100 * knob.importance);
    for (const ValueInsight& value : knob.values) text += value_line(space, knob, value);
  }
  if (!insight.interactions.empty()) text += "together, on top of the single effects\n";
  for (const InteractionInsight& pair : insight.interactions) {
    text += "  " + setting(space, pair.parameter[0], pair.value[0]) + " with " +
            setting(space, pair.parameter[1], pair.value[1]) + ": " + percent_text(pair.effect) +
            " (" + counted(pair.runs, "run") + ")\n";
  }
  if (!insight.only_failed.empty()) text += "values that only ever failed\n";
  for (const ValueInsight& value : insight.only_failed) {
    text +=
        "  " + setting(space, value.parameter, value.value) + ": " + failures_text(value) + "\n";
  }
  if (!insight.negatives.empty()) text += "valid negatives: tried, and no better\n";
  for (const ValueInsight& value : insight.negatives) {
    text += "  " + setting(space, value.parameter, value.value) + " → " +
            percent_text(*value.effect) + " (" + counted(value.runs, "run") + ")\n";
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
  }
  json["knobs"] = OrderedJson::array();
  for (const KnobInsight& knob : insight.knobs) {
    OrderedJson entry;
    entry["macro"] = space.parameter_name(knob.parameter);
    entry["best"] = space.value_text(knob.parameter, knob.best_value);
    entry["importance"] = knob.importance;
    for (const ValueInsight& value : knob.values) {
      entry["values"].push_back(value_json(space, value));
    }
    json["knobs"].push_back(std::move(entry));
  }
  json["interactions"] = OrderedJson::array();
  for (const InteractionInsight& pair : insight.interactions) {
    json["interactions"].push_back(interaction_json(space, pair));
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
