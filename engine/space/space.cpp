#include "engine/space/space.hpp"

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

/// Limit on the number of edges of a space's index (a decision diagram), so that its edges take at
/// most 8 MB, and building it takes less than a second.
constexpr std::size_t kMaxEdges = 2'000'000;
/// Number of random candidates of the index from which estimate_count() estimates how many satisfy
/// the constraints that are not in the index.
constexpr int kEstimateDraws = 20'000;

std::string quoted(const ConstraintText& constraint) {
  return "'" + constraint.shown() + "'" +
         (constraint.why.empty() ? "" : " (" + constraint.why + ")");
}

}  // namespace

Space::Space(SpaceDefinition definition) : definition_(std::move(definition)) {
  for (const Parameter& parameter : definition_.parameters) {
    value_counts_.push_back(parameter.values.size());
  }
  compile_constraints();
  build_index();
  estimate_count();
  drop_other_milestones();
  check_named_candidates();
}

/// Removes the milestones whose condition `where` is false on the timed shape.
void Space::drop_other_milestones() {
  std::erase_if(definition_.milestones, [&](const Milestone& milestone) {
    if (milestone.where.empty()) return false;
    try {
      return !Constraint(milestone.where, definition_.parameters).holds(milestone.candidate.choice);
    } catch (const InputError& error) {
      throw SpaceError(definition_.file + ": milestone '" + milestone.name + "': where: '" +
                       shortened(milestone.where) + "': " + error.what());
    }
  });
}

void Space::compile_constraints() {
  const ConditionNames names(definition_.parameters);
  for (std::size_t i = 0; i < definition_.constraints.size(); ++i) {
    const std::string& whole = definition_.constraints[i].expression;
    try {
      for (const std::string& part : split_conjunction(whole)) {
        parts_.push_back({Constraint(part, definition_.parameters, names), i});
      }
    } catch (const InputError& error) {
      throw SpaceError(definition_.file + ": constraints[" + std::to_string(i) + "].expression: '" +
                       shortened(whole) + "': " + error.what());
    }
  }
}

/// Builds the index of valid candidates from those rows of the file's table "allowed" that satisfy
/// all constraints.
void Space::index_table() {
  std::vector<Candidate> rows;
  for (const Candidate& row : definition_.allowed) {
    if (violated_constraint(row) == nullptr) rows.push_back(row);
  }
  if (rows.empty()) {
    throw SpaceError(definition_.file + ": allowed: none of " +
                     std::to_string(definition_.allowed.size()) +
                     " configurations satisfies the constraints");
  }
  diagram_ = DecisionDiagram::of(value_counts_, std::move(rows));
}

void Space::build_index() {
  if (!definition_.allowed.empty()) return index_table();
  std::vector<const Constraint*> narrow;
  for (const Part& part : parts_) narrow.push_back(&part.condition);
  std::stable_sort(narrow.begin(), narrow.end(), [](const Constraint* a, const Constraint* b) {
    return a->combinations() < b->combinations();
  });
  // Builds the index without the conditions that have the most combinations of values, if it would
  // otherwise be too large.
  std::optional<DecisionDiagram> diagram;
  while (!(diagram = DecisionDiagram::build(value_counts_, narrow, kMaxEdges))) {
    if (narrow.empty())
      throw SpaceError(definition_.file + ": parameters: too many values; drop macros or values");
    wide_.push_back(narrow.back());
    narrow.pop_back();
  }
  diagram_ = std::move(*diagram);
  if (diagram_.count() == 0) {
    throw SpaceError(definition_.file + ": constraints: no candidate satisfies them all; " +
                     "these exclude each other: " + unsatisfiable_constraints());
  }
}

/// Finds a minimal set of constraints that no candidate satisfies: drops each constraint without
/// which the remaining ones still have no solution.
std::string Space::unsatisfiable_constraints() const {
  std::vector<bool> kept(definition_.constraints.size(), true);
  for (std::size_t out = 0; out < kept.size(); ++out) {
    kept[out] = false;
    std::vector<const Constraint*> conditions;
    for (const Part& part : parts_) {
      if (kept[part.constraint]) conditions.push_back(&part.condition);
    }
    const auto diagram = DecisionDiagram::build(value_counts_, conditions, kMaxEdges);
    kept[out] = !diagram || diagram->count() > 0;
  }
  std::string list;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) list += (list.empty() ? "" : "; ") + quoted(definition_.constraints[i]);
  }
  return list;
}

void Space::estimate_count() {
  const double indexed = diagram_.size();
  count_ = {.value = indexed, .exact = !diagram_.is_huge()};
  if (wide_.empty()) return;
  Random random(1);
  int valid = 0;
  for (int i = 0; i < kEstimateDraws; ++i) {
    if (at_rank(random.below(diagram_.count()))) ++valid;
  }
  if (valid == 0) {
    throw SpaceError(definition_.file + ": constraints: none of " + std::to_string(kEstimateDraws) +
                     " random candidates satisfies all constraints over many values, such as '" +
                     wide_.back()->text() +
                     "'; use fewer macros in such a constraint, or drop values");
  }
  count_ = {.value = indexed * valid / kEstimateDraws, .exact = false};
}

void Space::check_named_candidates() const {
  if (const ConstraintText* constraint = violated(defaults())) {
    throw SpaceError(definition_.file + ": parameters: the defaults " + config_json(defaults()) +
                     " violate " + quoted(*constraint));
  }
  for (std::size_t i = 0; i < definition_.milestones.size(); ++i) {
    const Milestone& milestone = definition_.milestones[i];
    if (const ConstraintText* constraint = violated(milestone.candidate)) {
      throw SpaceError(definition_.file + ": milestones[" + std::to_string(i) + "]: '" +
                       milestone.name + "' " + config_json(milestone.candidate) + " violates " +
                       quoted(*constraint));
    }
  }
}

bool Space::is_ordered(std::size_t parameter) const {
  return definition_.parameters[parameter].is_ordered();
}

std::string_view Space::parameter_name(std::size_t parameter) const {
  return definition_.parameters[parameter].macro;
}

std::string Space::value_text(std::size_t parameter, std::size_t value) const {
  return definition_.parameters[parameter].values[value].text;
}

bool Space::is_valid(const Candidate& candidate) const {
  return diagram_.contains(candidate) &&
         std::all_of(wide_.begin(), wide_.end(),
                     [&](const Constraint* c) { return c->holds(candidate.choice); });
}

std::optional<Candidate> Space::at_rank(std::uint64_t rank) const {
  Candidate candidate = diagram_.at(rank);
  for (const Constraint* constraint : wide_) {
    if (!constraint->holds(candidate.choice)) return std::nullopt;
  }
  return candidate;
}

Candidate Space::defaults() const {
  Candidate candidate;
  for (const Parameter& parameter : definition_.parameters) {
    candidate.choice.push_back(static_cast<std::uint16_t>(parameter.default_index));
  }
  return candidate;
}

const ConstraintText* Space::violated(const Candidate& candidate) const {
  static const ConstraintText kTable{"allowed", "the configuration is not in the space's table"};
  if (const ConstraintText* constraint = violated_constraint(candidate)) return constraint;
  return definition_.allowed.empty() || diagram_.contains(candidate) ? nullptr : &kTable;
}

const ConstraintText* Space::violated_constraint(const Candidate& candidate) const {
  for (const Part& part : parts_) {
    if (!part.condition.holds(candidate.choice)) return &definition_.constraints[part.constraint];
  }
  return nullptr;
}

}  // namespace evo
