#include "engine/evolve/strategy.hpp"

#include <array>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/evolve/full_strategy.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {
namespace {

using Factory = std::unique_ptr<Strategy> (*)(const CandidateSpace&, const StrategyOptions&);

constexpr std::array<std::string_view, 9> kNames = {"full",      "free",         "insight",
                                                    "random",    "exhaustive",   "genetic",
                                                    "annealing", "differential", "local"};

std::unique_ptr<Strategy> make_default_full(const CandidateSpace& space,
                                            const StrategyOptions& options) {
  return make_full(space, options);
}

constexpr std::array<Factory, kNames.size()> kFactories = {
    make_default_full, make_free,      make_insight,      make_random, make_exhaustive,
    make_genetic,      make_annealing, make_differential, make_local};

}  // namespace

std::span<const std::string_view> strategy_names() { return kNames; }

bool strategy_learns(std::string_view name) { return name != "random" && name != "exhaustive"; }

std::unique_ptr<Strategy> make_strategy(std::string_view name, const CandidateSpace& space,
                                        const StrategyOptions& options) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return kFactories[i](space, options);
  }
  throw InputError(unknown_name("strategy", name, {kNames.begin(), kNames.end()}));
}

}  // namespace evo
