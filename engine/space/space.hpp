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
/// A named configuration that is evaluated in generation 0.
struct Milestone {
  std::string name;
  Candidate candidate;
  std::string note = {};
  std::string where = {};  ///< condition, for example on the shape; the milestone is left out if it
                           ///< is false; empty: no condition
};

/// The content of a search space file with a valid format; the class Space checks constraints.
struct SpaceDefinition {
  std::string file;  ///< source file, for messages
  std::string name;
  std::string description = {};
  std::string problem;
  std::string template_name;
  std::string arch;   ///< such as "sm_89"
  std::string shape;  ///< name of the shape that is timed by default
  std::vector<Parameter> parameters;
  Formulas let = {};  ///< named formulas, already expanded in constraints
  std::vector<ConstraintText> constraints = {};
  ResourcePolicy resources = {};
  std::vector<std::string> compiler_options = {};
  std::vector<std::string> include_paths = {};  ///< as written, relative to the file's folder
  std::vector<Milestone> milestones = {};
  /// If not empty, only configurations in this list that satisfy the constraints are valid.
  std::vector<Candidate> allowed = {};
  std::string text = {};  ///< the text of an equivalent file that extends no other file
};

/// A search space: its parameters, its valid candidates, and their conversion to macros and JSON.
///
/// Valid candidates are counted, sampled and enumerated through an index, which is a
/// DecisionDiagram. Constraints that would make the index too large are checked separately, and
/// then the number of candidates is an estimate.
///
/// Thread-safe, because a Space never changes after construction.
class Space final : public CandidateSpace {
 public:
  /// Throws SpaceError if the definition cannot be used: for invalid constraints or conditions of
  /// milestones, for constraints that no candidate satisfies, for defaults or milestones that
  /// violate a constraint, and for too many values. The message names the file, the key and, if
  /// there is one, the constraint.
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

  /// The first constraint in the order of the file that `candidate` violates; null if the candidate
  /// is valid. The file's table "allowed" counts as the last constraint. Every value index of
  /// `candidate` must be in range.
  [[nodiscard]] const ConstraintText* violated(const Candidate& candidate) const;

  /// Names and values for the compiler's option -D: all macros with their values, and all named
  /// values with their numbers.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> macros(
      const Candidate& candidate) const;

  /// The names in macros() with their values as numbers, for expressions in the problem file.
  [[nodiscard]] std::map<std::string, double> values(const Candidate& candidate) const;

  /// The candidate as JSON with its macros in the order of parameters():
  /// {"TILE_N":64,"SWIZZLE":"xor"}.
  [[nodiscard]] std::string config_json(const Candidate& candidate) const;

  /// The inverse of config_json(). Throws SpaceError for unknown or missing macros and for values
  /// that are not in the space. Does not check constraints.
  [[nodiscard]] Candidate candidate_from_json(std::string_view json) const;

  /// The candidate `base` with some macros set to values that are given as text, such as
  /// {{"TILE_N", "64"}}. Throws a SpaceError that names the allowed values for an unknown macro or
  /// value. Does not check constraints.
  [[nodiscard]] Candidate candidate_from_settings(
      std::span<const std::pair<std::string, std::string>> settings, const Candidate& base) const;

  /// A hash of everything in the space that affects results, as 32 hexadecimal digits.
  /// Descriptions, meanings of macros and reasons of constraints do not affect the hash.
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
  void drop_other_milestones();
  void check_named_candidates() const;

  SpaceDefinition definition_;
  std::vector<std::size_t> value_counts_;
  std::vector<Part> parts_;
  std::vector<const Constraint*> wide_;
  DecisionDiagram diagram_;
  SpaceCount count_;
};

/// Reads a search space file, whose format docs/file-formats.md describes. Throws a SpaceError or
/// InputError that names file, key, value and allowed values for anything that the format does not
/// allow, such as an unknown key.
[[nodiscard]] SpaceDefinition read_space_file(const std::filesystem::path& file);

/// Parses the text of a search space file. Error messages name `file`.
[[nodiscard]] SpaceDefinition parse_space(const std::string& text, const std::string& file);

}  // namespace evo
