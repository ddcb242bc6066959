#include "tools/cli/candidate_options.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "tools/cli/argument_text.hpp"
#include "tools/cli/completion.hpp"

namespace evo {
namespace {

Candidate start_of(const Space& space, const std::string& milestone) {
  if (milestone.empty()) return space.defaults();
  std::vector<std::string> known;
  for (const Milestone& entry : space.definition().milestones) {
    if (entry.name == milestone) return entry.candidate;
    known.push_back(entry.name);
  }
  if (known.empty()) {
    throw InputError("--milestone " + milestone + ": " + space.definition().file +
                     " has no milestones; allowed: --set");
  }
  throw InputError("--milestone: " + unknown_name("milestone", milestone, known));
}

}  // namespace

void CandidateOptions::declare(CLI::App& app) {
  add_option(app, "--set", settings, value_words::kSetting,
             "values of macros (default: those of --milestone, or the defaults)")
      ->expected(1, -1);
  add_option(app, "--milestone", milestone, value_words::kMilestone,
             "take the values of macros from this milestone of the space");
}

Candidate CandidateOptions::candidate(const Space& space) const {
  using Setting = std::pair<std::string, std::string>;
  std::vector<Setting> pairs;
  for (const std::string& text : settings) {
    const auto named = named_in(text);
    if (!named) throw InputError("--set " + text + ": allowed: MACRO=VALUE");
    const std::size_t comma = named->second.find(',');
    if (comma != std::string::npos && named_in(named->second.substr(comma + 1))) {
      throw InputError("--set " + text + ": write a space between settings: --set " +
                       text.substr(0, text.find(',')) + " " + named->second.substr(comma + 1));
    }
    if (std::ranges::find(pairs, named->first, &Setting::first) != pairs.end()) {
      throw InputError("--set " + text + ": " + named->first + " is set twice; set it once");
    }
    pairs.push_back(*named);
  }
  const Candidate candidate = space.candidate_from_settings(pairs, start_of(space, milestone));
  if (const ConstraintText* violated = space.violated(candidate)) {
    throw SpaceError(space.definition().file + ": this configuration violates the constraint " +
                     violated->shown() + (violated->why.empty() ? "" : ": " + violated->why));
  }
  return candidate;
}

}  // namespace evo
