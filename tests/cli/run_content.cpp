#include "tests/cli/run_content.hpp"

#include <algorithm>
#include <map>

#include "db/connection.hpp"
#include "db/queries.hpp"

namespace evo {
namespace {

/// The reason of a rejection without its numbers and their signs.
std::string reason_text(const std::string& reason) {
  std::string pattern = reason_pattern(reason);
  for (std::size_t at = 0; (at = pattern.find("-#", at)) != std::string::npos;)
    pattern.erase(at, 1);
  return pattern;
}

/// Identifies a candidate within its run by its generation and its position in the generation.
std::string place(const EvaluationRecord& record) {
  return std::to_string(record.generation) + "." + std::to_string(record.position);
}

/// The outcome of a candidate without the number of timed samples. The timing of a kernel that is
/// too slow for the elite stops early, and its number of samples depends on which candidates were
/// evaluated before.
std::string outcome(const EvaluationRecord& record) {
  if (record.rejection) {
    const Rejection& rejection = *record.rejection;
    return "rejected " + std::string(to_string(rejection.gate)) + " " +
           reason_text(rejection.reason) + (rejection.policy_only ? " policy" : "");
  }
  if (!record.timing) return "unjudged";
  return "green p50 " + std::to_string(record.timing->p50_us);
}

std::string evaluation_line(const EvaluationRecord& record, const std::string& first) {
  std::string line = "evaluation " + place(record) + " " + record.key + " " + record.config_json +
                     " " + record.origin + " '" + record.milestone + "' kernel " +
                     record.kernel_key + " shared " + std::to_string(record.dynamic_shared_bytes) +
                     " " + outcome(record);
  if (!first.empty()) line += " same as " + first;
  // The number of checked seeds is left out for a kernel whose timing stopped early, because the
  // number depends on the times that the worker has measured before.
  const bool is_slow = record.timing && !record.timing->complete;
  std::string last;
  for (const CheckResult& check : record.checks) {
    if (!is_slow || check.shape != last) line += " checked " + check.shape;
    last = check.shape;
  }
  return line + " manifest " + record.manifest_json;
}

}  // namespace

std::vector<std::string> run_content(const Store& store, RunId run) {
  std::vector<std::string> lines;
  std::map<CandidateId, std::string> places;
  for (const EvaluationRecord& evaluation : store.evaluations(run)) {
    places[evaluation.id] = place(evaluation);
    const std::string first = evaluation.duplicate_of ? places.at(*evaluation.duplicate_of) : "";
    lines.push_back(evaluation_line(evaluation, first));
    if (evaluation.compilation) {
      const CompilationRecord compilation = store.compilation(*evaluation.compilation);
      lines.push_back("compiled " + place(evaluation) + " " + compilation.key + " " +
                      compilation.ptx_hash + " " + compilation.error);
    }
  }
  for (const StoredGeneration& generation : store.generations(run)) {
    std::string line = "generation " + std::to_string(generation.record.number) + " control " +
                       std::to_string(generation.record.control_p50_us.value_or(0)) + " elite";
    for (const CandidateId entry : generation.record.elite) {
      const Timing timing = *store.evaluation(entry).timing;
      line += " " + places.at(entry) + " " + std::to_string(timing.p50_us) + " p90 " +
              std::to_string(timing.p90_us) + " samples " + std::to_string(timing.samples) +
              (timing.complete ? "" : " stopped early");
    }
    lines.push_back(line);
  }
  for (const ComparisonRecord& record : store.comparisons(run)) {
    lines.push_back("confirmation " + std::to_string(record.generation) + " " +
                    places.at(record.challenger) + " against " + places.at(record.incumbent) + " " +
                    std::string(to_string(record.verdict)));
  }
  lines.push_back("status " + std::string(to_string(store.run(run).status)));
  return lines;
}

std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(nothing)";
    const std::string right = i < b.size() ? b[i] : "(nothing)";
    if (left != right) return left + "\n  and\n" + right;
  }
  return {};
}

std::string integrity_damage(const Store& store) {
  SQLite::Database& database = store.connection().database();
  std::string found = database.execAndGet("PRAGMA integrity_check").getString();
  const int dangling =
      database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt();
  if (found == "ok") found.clear();
  if (dangling > 0) found += " " + std::to_string(dangling) + " references to missing rows";
  return found;
}

}  // namespace evo
