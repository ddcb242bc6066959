#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/formulas.hpp"
#include "engine/core/resource_policy.hpp"
#include "engine/space/candidate_space.hpp"
#include "engine/space/constraint.hpp"
#include "engine/space/decision_diagram.hpp"
#include "engine/space/parameter.hpp"

namespace evo {
/// A named configuration that joins generation 0.
struct Milestone {
  std::string name;
  Candidate candidate;
  std::string note = {};
};

/// A search space file, read and checked, without its index.
struct SpaceDefinition {
  std::string file;  ///< where it came from, for messages
  std::string name;
  std::string description = {};
  std::string problem;
  std::string template_name;
  std::string arch;   ///< "sm_89"
  std::string shape;  ///< timed unless the user says otherwise
  std::vector<Parameter> parameters;
  Formulas let = {};  ///< each whole; constraints have them in place of their names
  std::vector<ConstraintText> constraints = {};
  ResourcePolicy resources = {};
  std::vector<std::string> compiler_options = {};
  std::vector<std::string> include_paths = {};  ///< as written, from the file's folder
  std::vector<Milestone> milestones = {};
  /// Where there are any: no other configuration is valid.
  std::vector<Candidate> allowed = {};
  std::string text = {};  ///< a file that says the same alone
};

/// A search space file: the parameters, which candidates are valid, and how one is rendered.
///
/// Valid candidates are counted, sampled and enumerated through a DecisionDiagram; constraints that
/// would make it too large are checked on top, and the count is then estimated.
///
/// Threads may share it, also where it has wide constraints: nothing changes it once it is made,
/// and evaluation writes to memory of its own.
class Space final : public CandidateSpace {
 public:
  /// Throws SpaceError (file, key, value, what is allowed): bad constraints, constraints that
  /// nothing satisfies, defaults or milestones that violate one.
  explicit Space(SpaceDefinition definition);
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  [[nodiscard]] const SpaceDefinition& definition() const { return definition_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return definition_.parameters; }

  // CandidateSpace
  [[nodiscard]] std::size_t parameter_count() const override { return value_counts_.size(); }
  [[nodiscard]] std::size_t value_count(std::size_t p) const override { return value_counts_[p]; }
  [[nodiscard]] bool is_ordered(std::size_t parameter) const override;
  [[nodiscard]] std::string_view parameter_name(std::size_t parameter) const override;
  [[nodiscard]] std::string value_text(std::size_t parameter, std::size_t value) const override;
  [[nodiscard]] bool is_valid(const Candidate& candidate) const override;
  [[nodiscard]] SpaceCount count() const override { return count_; }
  [[nodiscard]] std::uint64_t rank_count() const override { return diagram_.count(); }
  [[nodiscard]] std::optional<Candidate> at_rank(std::uint64_t rank) const override;

  [[nodiscard]] Candidate defaults() const;

  /// The first constraint (in the file's order) that `candidate` violates, the table of allowed
  /// configurations being the last, or null. Every index of
  /// `candidate` must be in range.
  [[nodiscard]] const ConstraintText* violated(const Candidate& candidate) const;

  /// How many parts of constraints were too wide for the index.
  [[nodiscard]] std::size_t wide_constraints() const { return wide_.size(); }

  /// Names and values for the compiler's -D: every macro, and the value names.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> macros(
      const Candidate& candidate) const;

  /// The same as numbers, for expressions of the problem file.
  [[nodiscard]] std::map<std::string, double> values(const Candidate& candidate) const;

  /// {"TILE_N":64,"SWIZZLE":"xor"}, in the space's order.
  [[nodiscard]] std::string config_json(const Candidate& candidate) const;

  /// The inverse of config_json. Throws SpaceError for other keys, values or missing keys; the
  /// result may violate constraints.
  [[nodiscard]] Candidate candidate_from_json(std::string_view json) const;

  /// `base` with some macros set, as on a command line: {{"TILE_N", "64"}}. Throws SpaceError
  /// naming what is allowed; the result may violate constraints.
  [[nodiscard]] Candidate candidate_from_settings(
      std::span<const std::pair<std::string, std::string>> settings, const Candidate& base) const;

  /// 32 hexadecimal digits; equal exactly when everything that decides about results is equal
  /// (descriptions, meanings and reasons are left out).
  [[nodiscard]] std::string content_key() const;

 private:
  struct Part {
    Constraint condition;
    std::size_t constraint;  ///< index into definition_.constraints
  };

  void compile_constraints();
  void build_index();
  void index_table();
  [[nodiscard]] const ConstraintText* violated_constraint(const Candidate& candidate) const;
  [[nodiscard]] std::string unsatisfiable_constraints() const;
  void estimate_count();
  void check_named_candidates() const;

  SpaceDefinition definition_;
  std::vector<std::size_t> value_counts_;
  std::vector<Part> parts_;
  std::vector<const Constraint*> wide_;
  DecisionDiagram diagram_;
  SpaceCount count_;
};

/// Reads a search space file strictly (docs/file-formats.md). Throws SpaceError or InputError
/// naming file, key, value and what is allowed.
[[nodiscard]] SpaceDefinition read_space_file(const std::filesystem::path& file);

/// The same for a text already read; `file` names it in messages.
[[nodiscard]] SpaceDefinition parse_space(const std::string& text, const std::string& file);

}  // namespace evo
