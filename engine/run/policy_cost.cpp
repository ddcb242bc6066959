#include "engine/run/policy_cost.hpp"

#include <algorithm>
#include <set>

#include "engine/space/neighbours.hpp"
#include "engine/space/wider_space.hpp"

namespace evo {
namespace {

std::vector<const PolicyRejects::Reject*> most_like(const PolicyRejects& rejects,
                                                    const Candidate& winner, std::size_t count) {
  std::vector<const PolicyRejects::Reject*> order;
  for (const PolicyRejects::Reject& reject : rejects.rejects) order.push_back(&reject);
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    const std::pair left{hamming_distance(a->candidate, winner), a->excess};
    const std::pair right{hamming_distance(b->candidate, winner), b->excess};
    return left < right;
  });
  order.resize(std::min(order.size(), count));
  return order;
}

/// The limits of the policy that a candidate exceeds. In a kernel of several steps, each step that
/// the configuration uses is compared with the policy separately.
std::vector<PolicyMiss> misses_of(const Workbench& bench, const Store& store,
                                  const Candidate& candidate, const EvaluationRecord& record,
                                  const Resources& resources, std::size_t shape) {
  const ResourcePolicy& policy = bench.task().space().definition().resources;
  if (bench.task().kernel().steps.size() == 1) {
    return policy_misses(resources,
                         std::int64_t{resources.static_shared_bytes} + record.dynamic_shared_bytes,
                         policy);
  }
  const Values values =
      bench.task().problem().values_for(bench.task().shape(shape), bench.task().device().sm_count,
                                        bench.task().space().values(candidate));
  return policy_misses(entries_of(bench.task().kernel(), store.compilation(*record.compilation)),
                       bench.task().kernel().launch(values), policy);
}

/// Evaluates candidates on one shape without the space's policy, even if the run has evaluated the
/// same kernels before. If a stop is requested, returns the evaluations so far.
std::vector<Evaluation> judge_beyond_policy(Workbench& bench,
                                            const std::vector<Candidate>& candidates,
                                            std::size_t shape) {
  const ResourcePolicy no_policy;
  std::vector<Evaluation> judged;
  for (const Candidate& candidate : candidates) bench.evaluator().prefetch(candidate);
  try {
    for (const Candidate& candidate : candidates) {
      judged.push_back(bench.wait(
          bench.evaluator().evaluate(candidate, {.shapes = {shape}, .policy = &no_policy})));
    }
  } catch (const Interrupted&) {
    // The evaluations so far are returned, because each of them is valid by itself.
  }
  return judged;
}

}  // namespace

const PolicyRejects::Reject* PolicyRejects::nearest() const {
  const auto found = std::ranges::min_element(rejects, {}, &Reject::excess);
  return found == rejects.end() ? nullptr : &*found;
}

PolicyRejects policy_rejects(const Workbench& bench, const Store& store, RunId run,
                             std::size_t shape) {
  const SpaceDefinition& space = bench.task().space().definition();
  PolicyRejects result;
  std::set<std::string> kernels;
  for (const EvaluationRecord& stored : store.evaluations(run)) {
    const bool counts = stored.rejection && stored.rejection->policy_only && !stored.duplicate_of &&
                        stored.compilation && kernels.insert(stored.kernel_key).second;
    if (!counts) continue;
    const Resources resources = store.compilation_facts(*stored.compilation).resources;
    const Candidate candidate = bench.task().space().candidate_from_json(stored.config_json);
    PolicyRejects::Reject reject{stored.id, candidate,
                                 misses_of(bench, store, candidate, stored, resources, shape),
                                 resources.registers};
    for (const PolicyMiss& miss : reject.misses) {
      reject.excess = std::max(reject.excess, miss.excess());
      ++result.broken[miss.what + " > " + std::to_string(miss.limit)];
    }
    result.rejects.push_back(std::move(reject));
  }
  if (!result.rejects.empty()) result.wider_space = find_wider_space(space);
  return result;
}

PolicyCost policy_cost(Workbench& bench, const PolicyRejects& rejects, const EliteMember& winner,
                       std::size_t count, std::size_t shape) {
  const auto chosen = most_like(rejects, winner.candidate, count);
  std::vector<Candidate> candidates;
  for (const auto* reject : chosen) candidates.push_back(reject->candidate);
  const std::vector<Evaluation> judged = judge_beyond_policy(bench, candidates, shape);
  PolicyCost cost;
  cost.judged = judged.size();
  cost.with_us = winner.p50_us;
  const Evaluation* best = nullptr;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (!judged[i].is_green()) continue;
    ++cost.green;
    if (best != nullptr && judged[i].timing()->p50_us >= best->timing()->p50_us) continue;
    best = &judged[i];
    cost.best = chosen[i];
    cost.without_us = judged[i].timing()->p50_us;
  }
  if (best == nullptr || bench.task().device().time_kind != TimeKind::kMeasured) return cost;
  const KernelUnderTest kernel = kernel_under_test(bench.task(), *best);
  try {
    const PairResult pair =
        bench.wait(bench.take_home().compare_pair(winner.kernel, kernel, shape));
    if (pair.rejection) return cost;  // both were green before, so the separate times are kept
    cost.with_us = pair.first_us;
    cost.without_us = pair.second_us;
    cost.pair = pair;
  } catch (const Interrupted&) {
    // Without the A/B comparison, the result still has the times that were measured separately.
  }
  return cost;
}

}  // namespace evo
