#include "engine/gate/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/source_checks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/device/arch_limits.hpp"
#include "engine/gate/check_kernels.hpp"
#include "engine/gate/manifest.hpp"
#include "engine/problem/known_names.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {
namespace {

/// Shapes with more work than this (2^27 operations, about half a second) are checked with one seed
/// and not repeated on a device that interprets.
constexpr double kFlopsForAllSeedsWhenInterpreted = 134217728.0;

/// Shapes with more work than this (2^31 operations, about two seconds) are checked by a part of
/// their CTAs there.
constexpr double kFlopsOfWholeGridsWhenInterpreted = 2147483648.0;

/// The folder of problems: kernel_templates/ beside the folder of the space file.
std::filesystem::path find_templates_root(const SpaceDefinition& space) {
  const std::filesystem::path folder = std::filesystem::absolute(space.file).parent_path();
  for (const auto& root :
       {folder.parent_path() / "kernel_templates", folder / "kernel_templates"}) {
    if (std::filesystem::is_directory(root / space.problem)) return root;
  }
  throw SpaceError(space.file + ": problem: \"" + space.problem +
                   "\": no folder kernel_templates/" + space.problem + " beside " +
                   folder.string());
}

/// Misspelt names in the template's expressions: found here and not by every candidate in turn.
void check_names(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                 const Space& space) {
  const Values shape_macros = problem.macros_for(shape);
  const Values macros = space.values(space.defaults());
  const Values device = {{"SM_COUNT", 1}};
  require_known_names(problem, kernel, merged({&shape.variables, &shape_macros, &device, &macros}));
}

/// Macros that mean two things: in the space and in the problem, or changed by the source.
void check_macros(const Problem& problem, const Space& space, const KernelSource& source) {
  std::vector<std::string> own;
  for (const auto& [name, value] : space.macros(space.defaults())) own.push_back(name);
  require_own_macros(problem, own, space.definition().file);
  std::set<std::string> given(own.begin(), own.end());
  for (const auto& [name, value] : problem.shape_macros) given.insert(name);
  require_macros_kept(source, given);
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

/// The shortest text that the compiler reads as this very number.
std::string number_text(double value) {
  constexpr double kExact = 0x1.0p53;
  if (value == std::floor(value) && std::fabs(value) <= kExact) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return Json(value).dump();
}

/// Where include paths may lie: beside the problems and spaces, in a CUDA Toolkit, and in what the
/// user names. A space is not trusted with the other files of the machine.
std::vector<std::filesystem::path> include_roots(const std::filesystem::path& templates_root) {
  const std::filesystem::path project = templates_root.parent_path();
  std::vector<std::filesystem::path> roots = {project.has_relative_path() ? project
                                                                          : templates_root};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) {
      roots.push_back(std::filesystem::path(root) / "include");
    }
  }
  roots.emplace_back("/usr/local/cuda/include");
  if (const char* named = std::getenv("EVO_INCLUDE_PATH")) {
    std::istringstream folders(named);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (!folder.empty()) roots.emplace_back(folder);
    }
  }
  return roots;
}

}  // namespace

Harness::Harness(const HarnessOptions& options, Store& store, std::unique_ptr<DeviceClient> device)
    : store_(store),
      space_(read_space_file(options.space_file)),
      templates_root_(find_templates_root(space_.definition())),
      problem_(Problem::load(templates_root_ / space_.definition().problem)),
      kernel_(problem_.kernel(space_.definition().template_name)),
      shape_(problem_.shape(options.shape.empty() ? space_.definition().shape : options.shape)),
      options_(options_of_space()),
      source_(load_source(kernel_.source, templates_root_, include_folders(options_))),
      line_info_(options.line_info),
      device_(std::move(device)),
      device_info_(device_ ? device_->info() : arch_limits(space_.definition().arch)),
      arch_(arch_of(space_.definition(), device_info_)),
      compilers_(worker_program(), {std::max<std::size_t>(options.jobs, 1), options.compile_limit,
                                    options.compile_memory_bytes, options.on_event}) {
  (void)source_.expanded();  // refuses what cannot be exported before anything is compiled
  (void)problem_.checked_shapes(shape_, kernel_);  // refuses a shape the template does not support
  check_names(problem_, kernel_, shape_, space_);
  check_macros(problem_, space_, source_);
  (void)compilers_.version();
  if (device_) set_up_device(options, store);
  pipeline_ = std::make_unique<Pipeline>(
      PipelineSetup{&problem_, &kernel_, &shape_, space_.definition().resources, device_info_},
      store, compilers_, device_.get());
}

std::vector<std::string> Harness::options_of_space() const {
  OptionRules rules;
  rules.base = std::filesystem::absolute(space_.definition().file).parent_path();
  rules.include_roots = include_roots(templates_root_);
  for (const auto& [name, value] : space_.macros(space_.defaults())) {
    rules.taken_macros.push_back(name);
  }
  for (const auto& [name, expression] : problem_.shape_macros) {
    const auto& taken = rules.taken_macros;
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
      throw SpaceError(space_.definition().file + ": parameters: macro '" + name +
                       "' is also among the \"macros\" of problem '" + problem_.name +
                       "'; only one of them may set it");
    }
    rules.taken_macros.push_back(name);
  }
  try {
    return normalised_options(space_.definition().compiler_options, rules);
  } catch (const InputError& error) {
    throw SpaceError(space_.definition().file + ": compiler_options: " + error.what());
  }
}

CompileRequest Harness::request_for(const KernelSpec& spec, const KernelSource& source,
                                    const std::vector<std::string>& defines) const {
  CompileRequest request{source, spec.entry, arch_, defines};
  for (const auto& [name, value] : problem_.macros_for(shape_)) {
    request.options.push_back(define(name, number_text(value)));
  }
  if (line_info_) request.options.emplace_back("-lineinfo");
  return request;
}

CompilationRecord Harness::compile_reference(Store& store) {
  const KernelSource source = load_source(problem_.reference.source, templates_root_);
  PipelineSetup setup{&problem_, &problem_.reference, &shape_, {}, device_info_};
  Pipeline builder(setup, store, compilers_, nullptr);
  const std::atomic<bool> never{false};
  const auto built = builder.judge({{request_for(problem_.reference, source, {}), {}}}, 0, never,
                                   [](std::size_t, const Judgement&) {});
  if (built.front().rejection) {
    throw ProblemError(problem_.reference.source.string() + ": the reference does not pass the " +
                       std::string(to_string(built.front().rejection->gate)) + " gate: " +
                       built.front().rejection->reason + "\n" + built.front().rejection->detail);
  }
  return built.front().compilation;
}

/// On their own: none of the problem's macros may change them.
KernelImage Harness::compile_check_kernels(Store& store) {
  Problem checks = Problem::parse(problem_.text, problem_.folder);
  checks.reference.entry = kCheckKernelsEntry;
  LaunchExpressions& launch = checks.reference.launch;
  launch.grid.clear();
  launch.grid.emplace_back("1");
  launch.block.clear();
  launch.block.emplace_back("256");
  launch.dynamic_shared_bytes = Expression("0");
  Pipeline builder({&checks, &checks.reference, &shape_, {}, device_info_}, store, compilers_,
                   nullptr);
  const CompileRequest request{
      {"check_kernels.cu", check_kernels_source(), {}}, kCheckKernelsEntry, arch_, {}};
  const std::atomic<bool> never{false};
  const auto built = builder.judge({{request, {}}}, 0, never, [](std::size_t, const Judgement&) {});
  if (const auto& rejection = built.front().rejection) {
    throw NvrtcError("the check kernels do not build for " + arch_ + ": " + rejection->reason +
                     "\n" + rejection->detail);
  }
  const CompilationRecord& compilation = built.front().compilation;
  return {compilation.ptx, compilation.cubin, kCheckKernelsEntry};
}

void Harness::set_up_device(const HarnessOptions& options, Store& store) {
  const CompilationRecord reference = compile_reference(store);
  SessionSetup& setup = setup_;
  setup.problem_text = problem_.text;
  setup.problem_folder = problem_.folder.string();
  setup.template_name = kernel_.name;
  setup.shape = shape_.name;
  setup.reference = {reference.ptx, reference.cubin, problem_.reference.entry};
  if (takes_check_kernels(device_info_)) setup.check_kernels = compile_check_kernels(store);
  setup.check_seed = options.check_seed;
  setup.timing.cold = options.cold;
  if (device_info_.time_kind == TimeKind::kPredicted) {
    setup.correctness.flops_for_all_seeds = kFlopsForAllSeedsWhenInterpreted;
    setup.correctness.flops_of_whole_grids = kFlopsOfWholeGridsWhenInterpreted;
  }
  device_->set_up(setup);
}

void Harness::use_check_seed(std::uint64_t seed) {
  if (!device_) return;
  setup_.check_seed = seed;
  device_->set_up(setup_);
}

std::string Harness::problem_key() const {
  ContentHash hash;
  hash.add(problem_.text).add(source_.expanded());
  hash.add(load_source(problem_.reference.source, templates_root_).expanded());
  return hash.hex();
}

std::vector<KernelJob> Harness::jobs_for(const std::vector<Candidate>& candidates) const {
  std::vector<KernelJob> jobs;
  for (const Candidate& candidate : candidates) {
    std::vector<std::string> options = options_;
    for (const auto& [name, value] : space_.macros(candidate)) {
      options.push_back(define(name, value));
    }
    jobs.push_back({request_for(kernel_, source_, options), space_.values(candidate)});
  }
  return jobs;
}

std::vector<Judgement> Harness::judge(const std::vector<Candidate>& candidates, double give_up_us,
                                      const std::atomic<bool>& stop,
                                      const Pipeline::Finished& finished) {
  return pipeline_->judge(jobs_for(candidates), give_up_us, stop, finished);
}

std::vector<Judgement> Harness::judge_beyond_policy(const std::vector<Candidate>& candidates,
                                                    const std::atomic<bool>& stop) {
  Pipeline free({&problem_, &kernel_, &shape_, {}, device_info_}, store_, compilers_,
                device_.get());
  return free.judge(jobs_for(candidates), std::numeric_limits<double>::infinity(), stop,
                    [](std::size_t, const Judgement&) {});
}

KernelUnderTest Harness::kernel_of(const Candidate& candidate, const CompilationRecord& compilation,
                                   const std::string& kernel_key) const {
  return kernel_under_test(compilation, kernel_key, kernel_.entry, space_.values(candidate));
}

PhaseTimes Harness::times() const {
  PhaseTimes times = pipeline_->times();
  times.confirm_ms = confirm_ms_;
  times.busy_ms += confirm_ms_;
  return times;
}

PairResult Harness::compare_pair(const KernelUnderTest& first, const KernelUnderTest& second) {
  device_->submit_compare(first, second);
  const DeviceClient::Reply reply = device_->wait();
  confirm_ms_ += reply.wall_ms;
  if (!reply.failure) return reply.message.get<PairResult>();
  // Which of the two hung is not known.
  PairResult failed;
  failed.rejection = Rejection{Gate::kTiming, *reply.failure};
  return failed;
}

std::optional<Rejection> Harness::judge_alone(const KernelUnderTest& kernel) {
  device_->submit_check(kernel);
  const DeviceClient::Reply checked = device_->wait();
  confirm_ms_ += checked.wall_ms;
  if (checked.failure) return Rejection{Gate::kCorrectness, *checked.failure};
  auto correct = checked.message.get<CorrectnessResult>();
  if (correct.rejection) return std::move(correct.rejection);
  device_->submit_time(kernel, std::numeric_limits<double>::infinity());
  const DeviceClient::Reply timed = device_->wait();
  confirm_ms_ += timed.wall_ms;
  if (timed.failure) return Rejection{Gate::kTiming, *timed.failure};
  return timed.message.get<TimingResult>().rejection;
}

Duel Harness::duel(const KernelUnderTest& first, const KernelUnderTest& second) {
  Duel duel{compare_pair(first, second)};
  if (!duel.pair.rejection) return duel;
  // The other one is looked at as well: the first fault may have been its doing.
  if (duel.pair.failed_first) duel.first_failed = judge_alone(first);
  duel.second_failed = judge_alone(second);
  if (!duel.pair.failed_first) duel.first_failed = judge_alone(first);
  if (!duel.first_failed && !duel.second_failed) duel.pair = compare_pair(first, second);
  return duel;
}

std::optional<Timing> Harness::time_again(const KernelUnderTest& kernel) {
  device_->submit_time(kernel, std::numeric_limits<double>::infinity());
  const DeviceClient::Reply reply = device_->wait();
  confirm_ms_ += reply.wall_ms;
  if (reply.failure) return std::nullopt;
  const auto result = reply.message.get<TimingResult>();
  return result.rejection ? std::nullopt : result.timing;
}

std::string Harness::manifest(const Candidate& candidate) const {
  return launch_manifest(problem_, kernel_, shape_, space_.values(candidate), device_info_);
}

}  // namespace evo
