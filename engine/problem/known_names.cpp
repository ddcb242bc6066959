#include "engine/problem/known_names.hpp"

#include <fmt/format.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

class NameCheck {
 public:
  /// `hint`: text that the error message appends to the list of allowed names.
  NameCheck(const Problem& problem, const Values& known, std::string hint)
      : file_((problem.folder / "problem.json").string()), known_(known), hint_(std::move(hint)) {}

  void require(const std::string& key, const Expression& expression) const {
    for (const std::string& name : expression.variables()) {
      if (known_.contains(name)) continue;
      throw ProblemError(file_ + ": " + key + ": \"" + expression.text() + "\": unknown name '" +
                         name + "'; allowed: " + allowed() + hint_);
    }
  }

  void require(const std::string& key, const std::vector<Expression>& expressions) const {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      require(key + "[" + std::to_string(i) + "]", expressions[i]);
    }
  }

 private:
  [[nodiscard]] std::string allowed() const {
    std::string list;
    for (const auto& [name, value] : known_) list += (list.empty() ? "" : ", ") + name;
    return list;
  }

  std::string file_;
  const Values& known_;
  std::string hint_;
};

}  // namespace

void require_known_names(const Problem& problem, const KernelSpec& kernel, const Values& known) {
  const bool is_reference = problem.reference.kernel && &kernel == &*problem.reference.kernel;
  const NameCheck check(
      problem, known,
      is_reference ? "; \"reference.macros\" sets other values for the reference" : "");
  const std::string key = is_reference ? "reference" : "templates." + kernel.name;
  for (std::size_t i = 0; i < kernel.steps.size(); ++i) {
    const KernelStep& step = kernel.steps[i];
    const std::string where = kernel.is_plain() ? key : fmt::format("{}.steps[{}]", key, i);
    check.require(where + ".grid", step.launch.grid);
    check.require(where + ".block", step.launch.block);
    check.require(where + ".dynamic_shared_bytes", step.launch.dynamic_shared_bytes);
    if (step.when) check.require(where + ".when", *step.when);
  }
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.tensor_map && !kernel.takes(i)) continue;
    for (const auto& [value, expression] : argument.scalar_expressions()) {
      check.require("arguments: " + argument.name + "." + value, *expression);
    }
  }
  // The workspaces of a reference without macros have a fixed size (problem_json.cpp), so their
  // extents contain no names to check.
  if (is_reference && problem.reference.macros.empty()) return;
  for (const Argument& argument : problem.arguments) {
    if (!argument.belongs_to_kernel()) continue;
    const bool own = kernel.workspace.contains(argument.name);
    check.require(
        own ? key + ".workspace." + argument.name : "arguments: " + argument.name + ".extent",
        kernel.extent_of(argument));
  }
  if (is_reference) return;  // The tolerance of a reference is not used.
  check.require(key + ": tolerance.max_abs_error", kernel.tolerance.max_abs_error);
  check.require(key + ": tolerance.bad_abs_error", kernel.tolerance.bad_abs_error);
  check.require(key + ": tolerance.bad_share", kernel.tolerance.bad_share);
  check.require(key + ": tolerance.relative_l2", kernel.tolerance.relative_l2);
  check.require(key + ".independent_ctas", kernel.independent_ctas);
  if (kernel.tolerance.max_row_error) {
    check.require(key + ": tolerance.max_row_error", *kernel.tolerance.max_row_error);
  }
}

void require_own_macros(const Problem& problem, const std::vector<std::string>& macros,
                        const std::string& space_file) {
  const std::string file = (problem.folder / "problem.json").string();
  const auto refuse = [&](const std::string& macro, const std::string& where) {
    throw ProblemError(space_file + ": parameters: macro '" + macro + "' is also in " + file +
                       ": " + where + "; allowed: a name that is in only one of the two files");
  };
  for (const std::string& macro : macros) {
    for (const auto& [own, unused] : problem.shape_macros) {
      if (own == macro) refuse(macro, "macros." + macro);
    }
    if (problem.let.contains(macro)) refuse(macro, "let." + macro);
    for (const Shape& shape : problem.shapes) {
      if (shape.variables.contains(macro)) {
        refuse(macro, "shapes." + shape.name + ".variables." + macro);
      }
    }
  }
}

}  // namespace evo
