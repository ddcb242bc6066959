#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/study/recorded_space.hpp"

namespace evo {

/// Computes a recorded space. `counts` holds the number of (ordered) values of each parameter.
/// `is_valid`, `fails` (whether the candidate fails a gate) and `time_ms` are functions of a
/// Candidate.
template <typename Valid, typename Fails, typename Time>
RecordedSpace made_space(const std::vector<std::size_t>& counts, Valid is_valid, Fails fails,
                         Time time_ms) {
  Recording recording;
  recording.name = "made";
  for (std::size_t p = 0; p < counts.size(); ++p) {
    RecordedParameter parameter{"P" + std::to_string(p), {}};
    for (std::size_t v = 0; v < counts[p]; ++v) {
      parameter.values.push_back({std::to_string(v), static_cast<double>(v)});
    }
    recording.parameters.push_back(std::move(parameter));
  }
  Candidate candidate;
  candidate.choice.assign(counts.size(), 0);
  for (std::size_t p = 0; p < counts.size();) {
    if (is_valid(candidate)) {
      RecordedEntry entry{candidate};
      if (fails(candidate)) {
        entry.failure = "RuntimeFailedConfig";
      } else {
        entry.time_ms = time_ms(candidate);
      }
      recording.entries.push_back(std::move(entry));
    }
    p = 0;
    while (p < counts.size() && ++candidate.choice[p] == counts[p]) candidate.choice[p++] = 0;
  }
  return RecordedSpace(std::move(recording));
}

/// A space of 3744 valid candidates, 513 of which fail. The parameters interact: the best value of
/// one depends on the values of others.
inline RecordedSpace bumpy_space() {
  return made_space(
      {6, 5, 4, 4, 3, 3}, [](const Candidate& c) { return c.choice[0] + c.choice[1] * 2 <= 10; },
      [](const Candidate& c) { return c.choice[2] * c.choice[3] + c.choice[1] > 7; },
      [](const Candidate& c) {
        const double a = c.choice[0] - 4.0;
        const double b = c.choice[1] - c.choice[2] - 1.0;
        return 1 + 0.2 * a * a + 0.3 * b * b + 0.1 * std::abs(c.choice[3] - 2.0 + 0.5 * a) +
               (c.choice[4] == 1 ? 0.4 : 0.0) + 0.05 * c.choice[5] * (c.choice[0] % 2);
      });
}

/// A space of three candidates, one of which fails; one parameter has only one value.
inline RecordedSpace tiny_space() {
  return made_space(
      {3, 1}, [](const Candidate&) { return true; },
      [](const Candidate& c) { return c.choice[0] == 1; },
      [](const Candidate& c) { return 1.0 + c.choice[0]; });
}

}  // namespace evo
