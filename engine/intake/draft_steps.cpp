// Drafts several kernels that run one after the other and share arguments by name.

#include <algorithm>
#include <functional>

#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/intake/intake.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

bool is_constant(const DraftArgument& argument) { return argument.kind == Kind::kConstant; }

/// Renames the arguments of the kernel `entry` that the option --rename names.
void rename(const Given& given, const std::string& entry, std::vector<DraftArgument>& arguments) {
  const std::string prefix = unqualified(entry) + ".";
  for (const auto& [from, to] : given.renamed) {
    if (!from.starts_with(prefix)) continue;
    const std::string name = from.substr(prefix.size());
    const auto found = std::ranges::find_if(
        arguments, [&](const auto& argument) { return argument.name == name; });
    if (found == arguments.end()) {
      throw InputError("--rename " + from + "=" + to + ": " + entry + " has no such parameter");
    }
    if (!is_identifier(to)) {
      throw InputError("--rename " + from + "=" + to +
                       ": allowed: the name of an argument, which is a C identifier");
    }
    found->name = to;
    if (is_todo(found->value)) found->value = todo("value of " + to);
  }
}

std::vector<std::string> names_of(const std::vector<DraftArgument>& arguments) {
  std::vector<std::string> names;
  for (const DraftArgument& argument : arguments) {
    if (!is_constant(argument)) names.push_back(argument.name);
  }
  return names;
}

bool is_other_output(const DraftArgument& argument, const std::string& name) {
  return argument.is_written() && argument.name != name;
}

/// Merges the use of an argument by a later kernel into `argument`.
void merge(const DraftArgument& later, DraftArgument& argument) {
  if (later.type != argument.type && later.dtype != argument.dtype) {
    throw InputError(
        "argument " + argument.name + ": " + argument.type + " in one kernel, " + later.type +
        " in a later kernel; --rename KERNEL.PARAMETER=NAME gives one of them another name");
  }
  if (argument.use == kNeverUsed) argument.use = later.use;
  const bool is_buffer = argument.kind == Kind::kIn || argument.is_written();
  if (!is_buffer || !later.is_written()) return;
  if (argument.kind == Kind::kIn) {
    argument.kind = Kind::kInOut;
    argument.generator = later.is_read() ? later.generator : argument.generator;
  }
}

}  // namespace

void begin_steps(const Given& given, Draft& draft) {
  rename(given, draft.entry, draft.arguments);
  draft.step_arguments = names_of(draft.arguments);
}

void add_step(const Given& given, const Declarations& declared,
              const std::vector<DeclaredConstant>& constants, const std::string& entry,
              const Trial& trial, Draft& draft) {
  Draft own = draft;
  own.entry = entry;
  own.arguments.clear();
  own.notes.clear();
  draft_arguments({}, declared, constants, trial, own);
  rename(given, entry, own.arguments);
  draft.later_steps.push_back({entry, names_of(own.arguments)});
  std::vector<DraftArgument> added;
  std::vector<std::string> handed_on;
  for (const DraftArgument& later : own.arguments) {
    const auto known = std::ranges::find_if(
        draft.arguments, [&](const auto& argument) { return argument.name == later.name; });
    if (known == draft.arguments.end()) {
      added.push_back(later);
      continue;
    }
    if (known->kind == Kind::kOut && later.is_read()) handed_on.push_back(known->name);
    merge(later, *known);
  }
  // Inserts the arguments before the __constant__ variables, which follow all kernel parameters in
  // problem.json.
  const auto behind = std::ranges::find_if(draft.arguments, is_constant);
  draft.arguments.insert(behind, added.begin(), added.end());
  std::stable_partition(draft.arguments.begin(), draft.arguments.end(), std::not_fn(is_constant));
  for (DraftArgument& argument : draft.arguments) {
    if (std::ranges::find(handed_on, argument.name) == handed_on.end()) continue;
    if (std::ranges::none_of(draft.arguments, [&](const auto& other) {
          return is_other_output(other, argument.name);
        })) {
      continue;
    }
    argument.kind = Kind::kWorkspace;
    draft.assumed.push_back(
        "argument " + argument.name +
        ": one kernel writes it and a later kernel reads it, so it is a workspace");
  }
}

}  // namespace evo
