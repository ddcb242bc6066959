#include "tools/candidate_options.hpp"

#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

Candidate start_of(const Space& space, const std::string& milestone) {
  if (milestone.empty()) return space.defaults();
  std::string known;
  for (const Milestone& entry : space.definition().milestones) {
    if (entry.name == milestone) return entry.candidate;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  throw InputError("--milestone " + milestone + ": allowed: " + known);
}

}  // namespace

Candidate candidate_from_options(const Space& space, const std::string& milestone,
                                 const std::vector<std::string>& settings) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw InputError("--set " + text + ": allowed is MACRO=VALUE");
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  const Candidate candidate = space.candidate_from_settings(pairs, start_of(space, milestone));
  if (const ConstraintText* violated = space.violated(candidate)) {
    throw SpaceError(space.definition().file + ": this configuration violates the constraint " +
                     violated->shown() + (violated->why.empty() ? "" : ": " + violated->why));
  }
  return candidate;
}

}  // namespace evo
