#include "engine/gate/correctness/coverage.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace evo {
namespace {

struct ShapeChecks {
  std::string name;
  std::string sampled;
  std::size_t seeds = 0;

  [[nodiscard]] std::string text() const {
    return std::to_string(seeds) + (seeds == 1 ? " seed" : " seeds") +
           (sampled.empty() ? "" : ", " + sampled);
  }
};

/// The checked shapes, in the order of their first check.
std::vector<ShapeChecks> shapes_of(const std::vector<CheckResult>& checks) {
  std::vector<ShapeChecks> shapes;
  for (const CheckResult& check : checks) {
    auto known = std::ranges::find_if(shapes, [&](const ShapeChecks& shape) {
      return shape.name == check.shape && shape.sampled == check.sampled;
    });
    if (known == shapes.end()) known = shapes.insert(known, {check.shape, check.sampled});
    ++known->seeds;
  }
  return shapes;
}

}  // namespace

std::string coverage_text(const std::vector<CheckResult>& checks) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const ShapeChecks& shape : shapes_of(checks)) {
    const std::string how = shape.text();
    const auto known =
        std::ranges::find_if(groups, [&](const auto& group) { return group.first == how; });
    if (known == groups.end()) {
      groups.emplace_back(how, shape.name);
    } else {
      known->second += ", " + shape.name;
    }
  }
  std::string text;
  for (const auto& [how, names] : groups) {
    text += (text.empty() ? "" : "; ") + how + ": " + names;
  }
  return text;
}

}  // namespace evo
