#include "engine/evolve/strategy.hpp"

#include <algorithm>
#include <array>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/evolve/program_strategy.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {
namespace {

struct Row {
  std::unique_ptr<Strategy> (*make)(const CandidateSpace&, const StrategyOptions&);
  bool learns;
};

constexpr auto kNames = std::to_array<std::string_view>({
#define EVO_STRATEGY(name, source, learns) #name,
#include "engine/evolve/strategies.def"
#undef EVO_STRATEGY
});

constexpr auto kRows = std::to_array<Row>({
#define EVO_STRATEGY(name, source, learns) {make_##name, learns},
#include "engine/evolve/strategies.def"
#undef EVO_STRATEGY
});

const Row& row_of(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    throw InputError(unknown_name("strategy", name, {kNames.begin(), kNames.end()}));
  }
  return kRows[static_cast<std::size_t>(found - kNames.begin())];
}

}  // namespace

std::span<const std::string_view> strategy_names() { return kNames; }

bool strategy_learns(std::string_view name) {
  return name.starts_with(kProgramStrategy) || row_of(name).learns;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const CandidateSpace& space,
                                        const StrategyOptions& options) {
  if (name.starts_with(kProgramStrategy)) {
    return std::make_unique<ProgramStrategy>(space, options,
                                             std::string(name.substr(kProgramStrategy.size())));
  }
  return row_of(name).make(space, options);
}

}  // namespace evo
