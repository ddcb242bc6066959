#include "engine/coordinator/harness.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/entry_symbol.hpp"
#include "engine/compile/host_code.hpp"
#include "engine/compile/source_checks.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/coordinator/build_options.hpp"
#include "engine/coordinator/driver_match.hpp"
#include "engine/core/error.hpp"
#include "engine/core/formulas.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/device/arch_limits.hpp"
#include "engine/gate/correctness/check_kernels.hpp"
#include "engine/problem/inputs.hpp"
#include "engine/problem/known_names.hpp"
#include "engine/problem/surroundings.hpp"
#include "engine/space/surroundings.hpp"

namespace evo {
namespace {

/// The folder of problems: kernel_templates/ beside the folder of the space file.
std::filesystem::path find_templates_root(const SpaceDefinition& space) {
  const std::filesystem::path folder = std::filesystem::absolute(space.file).parent_path();
  for (const auto& root :
       {folder.parent_path() / "kernel_templates", folder / "kernel_templates"}) {
    std::error_code unknown;
    if (std::filesystem::is_directory(root / space.problem, unknown)) return root;
  }
  throw SpaceError(space.file + ": problem: \"" + space.problem +
                   "\": no folder kernel_templates/" + space.problem + " beside " +
                   folder.string());
}

/// The space with the names of the problem, the timed shape and the device in its constraints.
SpaceDefinition placed_space(const SpaceDefinition& space, const Problem& problem,
                             const KernelSpec& kernel, const Shape& shape,
                             const DeviceInfo& device) {
  std::vector<std::string> formulas;
  for (const auto& [name, formula] : space.let) formulas.push_back(name);
  require_own_macros(problem, formulas, space.file);
  return placed(space, formulas_for_constraints(problem, kernel, shape, device));
}

/// Misspelt names in the template's expressions: found here and not by every candidate in turn.
void check_names(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                 const Space& space) {
  require_known_names(problem, kernel,
                      problem.values_for(shape, 1, space.values(space.defaults())));
}

/// Macros that mean two things: in the space and in the problem, or changed by the source.
void check_macros(const Problem& problem, const Space& space, const KernelSource& source,
                  const std::vector<std::string>& options) {
  std::vector<std::string> own;
  for (const auto& [name, value] : space.macros(space.defaults())) own.push_back(name);
  require_own_macros(problem, own, space.definition().file);
  std::set<std::string> given(own.begin(), own.end());
  for (const auto& [name, value] : problem.shape_macros) given.insert(name);
  require_macros_kept(source, given, options);
}

/// A problem is trusted with the GPU, not with the host.
void require_no_programs(const Problem& problem) {
  const bool is_check = !problem.check_program.empty();
  const auto& words = is_check ? problem.check_program : problem.reference.program;
  if (words.empty()) return;
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  throw ProblemError((problem.folder / "problem.json").string() + ": " +
                     (is_check ? "check" : "reference") + ".program: '" + text +
                     "' would run on this machine with your rights; look at it, then allow it with "
                     "--allow-programs");
}

std::string define(const std::string& name, const std::string& value) {
  return "-D" + name + "=" + value;
}

/// Throws SpaceError naming the file and the key.
std::string arch_of(const SpaceDefinition& space, const DeviceInfo& device) {
  try {
    return compile_arch(device.arch, space.arch);
  } catch (const InputError& error) {
    throw SpaceError(space.file + ": arch: \"" + space.arch + "\": " + error.what() + " (" +
                     device.name + ")");
  }
}

}  // namespace

Harness::Harness(const HarnessOptions& options, Services services)
    : services_(std::move(services)),
      energy_s_(options.energy_s),
      definition_(read_space_file(options.space_file)),
      templates_root_(find_templates_root(definition_)),
      problem_(Problem::load(templates_root_ / definition_.problem)),
      kernel_(problem_.kernel(definition_.template_name)),
      device_info_(services_.device ? services_.device->info() : arch_limits(definition_.arch)),
      places_(places_of(options.shape.empty() ? definition_.shape : options.shape)),
      options_(options_of_space(space(), problem_, templates_root_)),
      source_(load(kernel_, options_)),
      line_info_((services_.device && device_info_.time_kind == TimeKind::kPredicted) ||
                 !services_.predictors.empty()),
      arch_(arch_of(definition_, device_info_)),
      compilations_(services_.store, *services_.compilers),
      forecasts_(std::move(services_.predictors)),
      interpreted_(std::move(services_.interpreter)),
      workers_(compilations_, {&forecasts_, &interpreted_}, services_.device.get(),
               *services_.clock),
      pipeline_(pipeline_setup(definition_.resources), workers_) {
  has_own_includes_ = !include_folders(options_).empty();
  options_ = with_toolkit(std::move(options_), source_, toolkit_include_folders());
  (void)source_.expanded();  // refuses what cannot be exported before anything is compiled
  for (const Place& place : places_) {
    (void)problem_.checked_shapes({place.shape}, kernel_);  // refuses one it does not support
    check_names(problem_, kernel_, *place.shape, *place.space);
  }
  require_one_build();
  check_macros(problem_, space(), source_, options_);
  require_driver_for(services_.compilers->version(), device_info_);
  if (!has_device()) return;
  if (!options.allow_programs) require_no_programs(problem_);
  set_up_device(options);
}

std::vector<Harness::Place> Harness::places_of(const std::string& shapes) const {
  std::vector<Place> places;
  for (const Shape* shape : problem_.select_shapes(shapes, kernel_)) {
    places.push_back({shape,
                      std::make_unique<Space>(
                          placed_space(definition_, problem_, kernel_, *shape, device_info_)),
                      shape_conditions(problem_, kernel_, definition_, *shape, device_info_)});
  }
  return places;
}

/// All timed shapes share their compilations.
void Harness::require_one_build() const {
  const auto macros_text = [&](const Shape& shape) {
    std::string text;
    for (const auto& [name, value] : problem_.macros_for(shape)) {
      text += (text.empty() ? "" : " ") + name + "=" + formula_of(value);
    }
    return text;
  };
  for (const Place& place : places_) {
    if (problem_.macros_for(*place.shape) == problem_.macros_for(shape())) continue;
    throw InputError("--shape: shapes '" + shape().name + "' and '" + place.shape->name +
                     "' of problem '" + problem_.name + "' are compiled with different macros (" +
                     macros_text(shape()) + " and " + macros_text(*place.shape) +
                     "); one run over both is not supported: tune them in runs of their own");
  }
}

bool Harness::allows(const Candidate& candidate, std::size_t at) const {
  return space(at).violated(candidate) == nullptr;
}

/// Of a harness with one shape that one, whatever the candidate.
std::vector<ShapeTask> Harness::tasks_for(const Candidate& candidate) const {
  std::vector<ShapeTask> tasks;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    if (places_.size() == 1 || allows(candidate, at)) tasks.push_back({at});
  }
  return tasks;
}

PipelineSetup Harness::pipeline_setup(const ResourcePolicy& policy) const {
  std::vector<const Shape*> timed;
  for (const Place& place : places_) timed.push_back(place.shape);
  return {problem_, kernel_, std::move(timed), policy, device_info_, energy_s_};
}

KernelSource Harness::load(const KernelSpec& spec, const std::vector<std::string>& options) const {
  std::vector<std::filesystem::path> folders = include_folders(options);
  for (const auto& folder : toolkit_include_folders()) folders.push_back(folder);
  KernelSource source = load_source(spec.source, templates_root_, folders);
  return makes_all_device_code(options) ? source : without_host_code(std::move(source));
}

CompileRequest Harness::request_for(const KernelSpec& spec, const KernelSource& source,
                                    const std::vector<std::string>& defines) const {
  CompileRequest request{source, spec.entries(), arch_, defines};
  for (const auto& [name, value] : problem_.macros_for(shape())) {
    request.options.push_back(define(name, formula_of(value)));
  }
  if (line_info_) request.options.emplace_back("-lineinfo");
  return request;
}

/// The configuration of the template that the problem names as its reference.
Candidate Harness::reference_candidate() const {
  try {
    const Candidate candidate =
        space().candidate_from_settings(*problem_.reference.set, space().defaults());
    if (const ConstraintText* broken = space().violated(candidate)) {
      throw SpaceError("violates " + broken->expression);
    }
    return candidate;
  } catch (const SpaceError& error) {
    throw ProblemError((problem_.folder / "problem.json").string() +
                       ": reference.set: " + error.what());
  }
}

Harness::StartedReference Harness::start_reference() {
  const Reference& reference = problem_.reference;
  if (reference.kernel) {
    std::vector<std::string> options = include_options_of(problem_, templates_root_);
    const KernelSource source = load(*reference.kernel, options);
    options = with_toolkit(std::move(options), source, toolkit_include_folders());
    std::set<std::string> given;
    for (const auto& [name, value] : reference.macros) {
      options.push_back(define(name, value));
      given.insert(name);
    }
    require_macros_kept(source, given);
    const CompileRequest request = request_for(*reference.kernel, source, options);
    Values macros = reference.macro_values();
    require_known_names(problem_, *reference.kernel, problem_.values_for(shape(), 1, macros));
    return {*reference.kernel, std::move(macros), compilations_.start(request)};
  }
  const Candidate candidate = reference_candidate();
  return {kernel_, space().values(candidate), start(candidate)};
}

Harness::BuiltReference Harness::wait_for(StartedReference started) {
  const KernelSpec& spec = started.spec;
  const Built built = workers_.wait_for(started.ticket);
  const CompilationRecord& compilation = built.record;
  const std::string file = spec.source.string();
  if (!compilation.ok) {
    throw ProblemError(file + ": the reference does not pass the build gate: " + compilation.error +
                       "\n" + compilation.log);
  }
  BuiltReference result{image_of(problem_, spec, compilation), std::move(started.macros)};
  if (const std::string misfit = parameters_text(problem_, spec, result.image); !misfit.empty()) {
    throw ProblemError((problem_.folder / "problem.json").string() + ": reference: " + misfit);
  }
  if (const std::string unset = unset_constants_text(problem_, result.image); !unset.empty()) {
    throw ProblemError(file + ": " + unset);
  }
  const LaunchPlan launch =
      spec.launch(problem_.values_for(shape(), device_info_.sm_count, result.macros));
  if (const auto misfit =
          resource_gate(entries_of(spec, compilation), spec.entries(), launch, {}, device_info_)) {
    throw ProblemError(file + ": the reference does not pass the resource gate: " + misfit->reason +
                       "\n" + misfit->detail);
  }
  return result;
}

/// On their own: none of the problem's macros may change them.
Compilations::Ticket Harness::start_check_kernels() {
  return compilations_.start(
      {{"check_kernels.cu", check_kernels_source(), {}}, {kCheckKernelsEntry}, arch_, {}});
}

KernelImage Harness::wait_for_check_kernels(Compilations::Ticket ticket) {
  const Built built = workers_.wait_for(ticket);
  if (!built.record.ok) {
    throw NvrtcError("the check kernels do not build for " + arch_ + ": " + built.record.error +
                     "\n" + built.record.log);
  }
  return {built.record.ptx, built.record.cubin, {kCheckKernelsEntry}};
}

void Harness::start_opening() {
  std::vector<Candidate> candidates;
  for (const Milestone& milestone : space().definition().milestones) {
    candidates.push_back(milestone.candidate);
  }
  candidates.push_back(space().defaults());
  for (Candidate& candidate : candidates) {
    const bool is_started = std::ranges::any_of(
        opening_, [&](const auto& started) { return started.first == candidate; });
    if (is_started || tasks_for(candidate).empty()) continue;
    const Compilations::Ticket ticket = start(candidate);
    opening_.emplace_back(std::move(candidate), ticket);
  }
}

std::vector<std::string> Harness::warnings() const {
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
  std::vector<std::string> macros;
  for (const Parameter& parameter : space().parameters()) {
    const bool in_entry = std::ranges::any_of(kernel_.steps, [&](const KernelStep& step) {
      return step.entry.find(parameter.macro) != std::string::npos;
    });
    const bool is_given = parameter.values.size() > 1 && !in_entry;
    if (is_given && !read.contains(parameter.macro)) macros.push_back(parameter.macro);
  }
  std::vector<std::string> texts;
  if (has_own_includes_) return texts;  // what lies there is not looked at
  for (const std::string& macro : macros_never_read(source_, macros)) {
    texts.push_back("warning: " + space().definition().file + ": macro '" + macro +
                    "' is read neither by " + source_.name +
                    " nor by the launch; its values are one kernel");
  }
  return texts;
}

std::string Harness::problem_key() const {
  ContentHash hash;
  hash.add(problem_.text).add(source_.expanded());
  if (std::ranges::any_of(problem_.arguments, &Argument::is_drawn)) hash.add(kDrawVersion);
  if (problem_.reference.kernel) {
    hash.add(
        load(*problem_.reference.kernel, include_options_of(problem_, templates_root_)).expanded());
  }
  for (const std::filesystem::path& file : problem_.data_files()) {
    hash.add(file.lexically_relative(problem_.folder).string()).add(read_text_file(file));
  }
  return hash.hex();
}

std::vector<std::string> Harness::options_for(const Candidate& candidate) const {
  std::vector<std::string> options = options_;
  for (const auto& [name, value] : space().macros(candidate)) {
    options.push_back(define(name, value));
  }
  return options;
}

Compilations::Ticket Harness::start(const Candidate& candidate) {
  const auto started = std::ranges::find(
      opening_, candidate, [](const auto& one) -> const Candidate& { return one.first; });
  if (started != opening_.end()) {
    const Compilations::Ticket ticket = started->second;
    opening_.erase(started);
    return ticket;
  }
  return compilations_.start(request_for(kernel_, source_, options_for(candidate)));
}

}  // namespace evo
