#include "engine/evaluate/tuning_task.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "engine/compile/entry_symbol.hpp"
#include "engine/compile/source_checks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/formulas.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/evaluate/builds.hpp"
#include "engine/evaluate/manifest.hpp"
#include "engine/evaluate/validity.hpp"
#include "engine/problem/inputs.hpp"
#include "engine/problem/known_names.hpp"

namespace evo {
namespace {

/// Throws if an expression of the template contains an unknown name, because such an expression
/// would reject every candidate.
void check_names(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                 const Space& space) {
  require_known_names(problem, kernel,
                      problem.values_for(shape, 1, space.values(space.defaults())));
}

/// Throws if both the space and the problem set a macro, or if the source changes one of their
/// macros.
void check_macros(const Problem& problem, const Space& space, const KernelSource& source,
                  const std::vector<std::string>& options) {
  std::vector<std::string> own;
  for (const auto& [name, value] : space.macros(space.defaults())) own.push_back(name);
  require_own_macros(problem, own, space.definition().file);
  std::set<std::string> given(own.begin(), own.end());
  for (const auto& [name, value] : problem.shape_macros) given.insert(name);
  require_macros_kept(source, given, options);
}

}  // namespace

TuningTask::TuningTask(const std::filesystem::path& space_file, const std::string& shapes,
                       const DeviceInfo& device, bool with_lines)
    : definition_(read_space_file(space_file)),
      templates_root_(find_templates_root(definition_)),
      problem_(Problem::load(templates_root_ / definition_.problem)),
      kernel_(problem_.kernel(definition_.template_name)),
      device_(device),
      places_(places_of(shapes.empty() ? definition_.shape : shapes)),
      sources_(problem_, kernel_, shape(), space(), templates_root_, device_, with_lines) {
  for (const Place& place : places_) {
    (void)problem_.checked_shapes({place.shape}, kernel_);  // throws for an unsupported shape
    check_names(problem_, kernel_, *place.shape, *place.space);
  }
  require_one_build();
  check_macros(problem_, space(), sources_.source(), sources_.options());
}

std::vector<TuningTask::Place> TuningTask::places_of(const std::string& shapes) const {
  std::vector<Place> places;
  for (const Shape* shape : problem_.select_shapes(shapes, kernel_)) {
    places.push_back(
        {shape,
         std::make_unique<Space>(placed_space(definition_, problem_, kernel_, *shape, device_)),
         shape_conditions(problem_, kernel_, definition_, *shape, device_)});
  }
  return places;
}

/// Throws InputError if the timed shapes need different macros, because all shapes of a run use the
/// same compiled kernel.
void TuningTask::require_one_build() const {
  for (const Place& place : places_) {
    if (problem_.macros_for(*place.shape) == problem_.macros_for(shape())) continue;
    throw InputError("--shape: shapes '" + shape().name + "' and '" + place.shape->name +
                     "' of problem '" + problem_.name + "' are compiled with different macros (" +
                     macros_text(problem_, shape()) + " and " +
                     macros_text(problem_, *place.shape) +
                     "), so no kernel serves both: name one of them (evo-tune accepts both)");
  }
}

std::vector<std::size_t> TuningTask::shapes_for(const Candidate& candidate) const {
  std::vector<std::size_t> allowed;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    if (places_.size() == 1 || space(at).violated(candidate) == nullptr) allowed.push_back(at);
  }
  return allowed;
}

std::vector<std::string> TuningTask::warnings() const {
  std::set<std::string> read;
  const auto add = [&](const Expression& expression) {
    read.insert(expression.variables().begin(), expression.variables().end());
  };
  for (const KernelStep& step : kernel_.steps) {
    std::ranges::for_each(step.launch.grid, add);
    std::ranges::for_each(step.launch.block, add);
    add(step.launch.dynamic_shared_bytes);
    if (step.when) add(*step.when);
  }
  for (const auto& [name, extent] : kernel_.workspace) add(extent);
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    if (!problem_.arguments[i].tensor_map || !kernel_.takes(i)) continue;
    for (const auto& [key, value] : problem_.arguments[i].scalar_expressions()) add(*value);
  }
  std::vector<std::string> macros;
  for (const Parameter& parameter : space().parameters()) {
    const bool in_entry = std::ranges::any_of(kernel_.steps, [&](const KernelStep& step) {
      return step.entry.find(parameter.macro) != std::string::npos;
    });
    const bool is_given = parameter.values.size() > 1 && !in_entry;
    if (is_given && !read.contains(parameter.macro)) macros.push_back(parameter.macro);
  }
  std::vector<std::string> texts;
  if (sources_.has_own_includes()) return texts;  // the content of these folders is not examined
  for (const std::string& macro : macros_never_read(sources_.source(), macros)) {
    texts.push_back("warning: " + space().definition().file + ": macro '" + macro +
                    "' is read neither by " + sources_.source().name +
                    " nor by the launch; all values of the macro give the same kernel");
  }
  return texts;
}

std::string TuningTask::problem_key() const {
  ContentHash hash;
  hash.add(problem_.text).add(sources_.source().expanded());
  if (std::ranges::any_of(problem_.arguments, &Argument::is_drawn)) hash.add(kDrawVersion);
  if (problem_.reference.kernel) hash.add(sources_.reference_source().expanded());
  for (const std::filesystem::path& file : problem_.data_files()) {
    hash.add(file.lexically_relative(problem_.folder).string()).add_file(file);
  }
  return hash.hex();
}

std::vector<CheckResult> TuningTask::checks_on(const std::vector<CheckResult>& checks,
                                               std::size_t at) const {
  if (places_.size() == 1) return checks;
  std::vector<CheckResult> own;
  for (const CheckResult& check : checks) {
    const bool of_another = check.shape != shape(at).name && !problem_.shape(check.shape).check;
    if (!of_another) own.push_back(check);
  }
  return own;
}

std::string TuningTask::manifest(const Candidate& candidate, std::size_t at) const {
  return launch_manifest(problem_, kernel_, shape(at), space(at).values(candidate), device_,
                         places_.at(at).valid_shapes);
}

}  // namespace evo
