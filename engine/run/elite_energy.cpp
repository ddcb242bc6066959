#include "engine/run/elite_energy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/objective.hpp"
#include "engine/worker/interrupted.hpp"

namespace evo {
namespace {

/// Measures and stores the energy per launch of a member of the elite. Returns the reason if the
/// measurement fails, otherwise an empty text.
std::string measure(Workbench& bench, RunStore& store, const EliteMember& member, std::size_t at) {
  auto answer = bench.wait(bench.take_home().energy_of(member.kernel, kEliteEnergy_s, at));
  if (const auto* failure = std::get_if<WorkerFailure>(&answer)) return failure->reason;
  const auto& result = std::get<EnergyResult>(answer);
  if (result.rejection) return result.rejection->reason;
  if (!result.energy) return result.not_supported;
  store.record_energy(member.id, *result.energy);
  return {};
}

}  // namespace

std::string measure_elite_energy(Workbench& bench, RunStore& store,
                                 const std::vector<EliteMember>& elite,
                                 const std::vector<CandidateId>& known, std::size_t at) {
  if (!has_device(bench) || !bench.task().device().counts_energy) return {};
  try {
    for (const EliteMember& member : elite) {
      if (std::ranges::find(known, member.id) != known.end()) continue;
      const std::string why = measure(bench, store, member, at);
      if (!why.empty()) {
        return fmt::format("the energy of candidate {} is not known: {}", member.id, why);
      }
    }
  } catch (const Interrupted&) {
    return "interrupted before the energy of the elite was measured";
  }
  return {};
}

}  // namespace evo
