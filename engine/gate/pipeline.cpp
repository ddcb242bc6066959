#include "engine/gate/pipeline.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

/// Far above the memory of any device.
constexpr double kMostWorkspaceBytes = 1099511627776.0;

std::string fmt_bytes(double bytes) {
  constexpr double kGiga = 1e9;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / kGiga);
  return text;
}

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::vector<StoredDependency> stored(const std::vector<Dependency>& dependencies) {
  std::vector<StoredDependency> list;
  for (const Dependency& dependency : dependencies) {
    list.push_back({dependency.path, dependency.content});
  }
  return list;
}

bool is_current(const CompilationRecord& record) {
  std::vector<Dependency> list;
  for (const StoredDependency& dependency : record.dependencies) {
    list.push_back({dependency.path, dependency.content});
  }
  return evo::is_current(list);
}

/// The key of a compilation: of the request, and of what it opened beside.
std::string full_key(const std::string& request_key, const std::vector<Dependency>& dependencies) {
  if (dependencies.empty()) return request_key;
  ContentHash hash;
  hash.add(request_key);
  for (const Dependency& dependency : dependencies) {
    hash.add(dependency.path).add(dependency.content);
  }
  return hash.hex();
}

CompilationRecord record_of(const CompileRequest& request, const std::string& request_key,
                            const std::string& compiler, const CompilePool::Finished& done) {
  CompilationRecord record;
  record.key = full_key(request_key, done.dependencies);
  record.request_key = request_key;
  record.dependencies = stored(done.dependencies);
  record.arch = request.arch;
  record.compiler = compiler;
  record.options = join_options(request.options);
  record.source = request.source.expanded();
  if (const auto* compiled = std::get_if<Compiled>(&done.outcome)) {
    record.ok = true;
    record.compile_ms = compiled->compile_ms;
    record.ptx_hash = compiled->ptx_hash;
    record.resources = compiled->resources;
    record.log = compiled->log;
    record.ptx = compiled->ptx;
    record.cubin = compiled->cubin;
  } else {
    const auto& rejection = std::get<Rejection>(done.outcome);
    record.error = rejection.reason.empty() ? "no reason was given" : rejection.reason;
    record.log = rejection.detail;
  }
  return record;
}

/// Everything about a kernel on one shape that decides its verdict beside its code. Throws
/// InputError for what this configuration makes impossible.
void add_shape(ContentHash& hash, const Problem& problem, const KernelSpec& kernel,
               const Shape& shape, const Values& macros, const DeviceInfo& device) {
  const Values shape_macros = problem.macros_for(shape);
  const Values device_values = {{"SM_COUNT", device.sm_count}};
  const Values values = merged({&macros, &shape.variables, &shape_macros, &device_values});
  const auto add = [&hash](double number) {
    hash.add({reinterpret_cast<const char*>(&number), sizeof number});
  };
  hash.add(shape.name);
  const LaunchConfig launch = kernel.launch.evaluate(values);
  for (const auto& dimensions : {launch.grid, launch.block}) {
    for (const std::uint32_t size : dimensions) add(size);
  }
  add(launch.dynamic_shared_bytes);
  double workspace_bytes = 0;
  for (const Argument& argument : problem.arguments) {
    if (argument.direction != Direction::kWorkspace) continue;
    const auto bytes = static_cast<double>(argument.bytes(values, kernel.extent_of(argument)));
    add(bytes);
    workspace_bytes += bytes;
  }
  if (workspace_bytes > kMostWorkspaceBytes) {
    throw ProblemError("the workspaces take " + fmt_bytes(workspace_bytes) + " on shape '" +
                       shape.name + "'; no device has more than " + fmt_bytes(kMostWorkspaceBytes));
  }
  const Tolerance tolerance = kernel.tolerance.evaluate(values);
  for (const double bound : {tolerance.max_abs_error, tolerance.bad_abs_error, tolerance.bad_share,
                             tolerance.relative_l2, tolerance.max_row_error}) {
    if (!(bound >= 0)) {
      throw ProblemError("a tolerance is " + std::to_string(bound) + " on shape '" + shape.name +
                         "'; allowed is a number of at least 0");
    }
    add(bound);
  }
  add(kernel.deterministic ? 1 : 0);
  add(kernel.independent_ctas.evaluate(values));
}

}  // namespace

KernelUnderTest kernel_under_test(const CompilationRecord& compilation,
                                  const std::string& kernel_key, const std::string& entry,
                                  const Values& macros) {
  return {kernel_key, {compilation.ptx, compilation.cubin, entry}, macros};
}

/// The state of one call of judge().
class Pipeline::Batch {
 public:
  Batch(Pipeline& owner, std::vector<KernelJob> jobs, double give_up_us, const Finished& finished)
      : owner_(owner),
        jobs_(std::move(jobs)),
        give_up_us_(give_up_us),
        finished_(finished),
        results_(jobs_.size()),
        stages_(jobs_.size(), Stage::kCompiling) {}

  void run(const std::atomic<bool>& stop) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) start_compilation(i);
    Clock::time_point before = Clock::now();
    while (true) {
      for (const auto& done : owner_.compilers_.collect()) {
        if (done.ticket < jobs_.size()) take_compilation(done);
      }
      advance_device();
      if (next_ == jobs_.size() || stop) break;
      const bool compiling = owner_.compilers_.in_flight() > 0;
      const Stage device_stage = stages_[next_];
      wait_for_news();
      const Clock::time_point now = Clock::now();
      account(milliseconds(now - before), compiling, device_stage);
      before = now;
    }
  }

  /// The finished ones, up to the first that is not.
  [[nodiscard]] std::vector<Judgement> take() {
    results_.resize(next_);
    return std::move(results_);
  }

 private:
  enum class Stage { kCompiling, kCompiled, kChecking, kTiming, kDone };

  void start_compilation(std::size_t i) {
    Judgement& result = results_[i];
    const std::string key = jobs_[i].compile.key(owner_.compilers_.version());
    for (CompilationRecord& known : owner_.store_.find_compilations(key)) {
      if (!is_current(known)) continue;  // a header in an include path has changed
      result.compilation = std::move(known);
      result.cached = true;
      after_compilation(i);
      return;
    }
    result.compilation.key = key;
    owner_.compilers_.submit(i, jobs_[i].compile);
  }

  void take_compilation(const CompilePool::Finished& done) {
    const std::size_t i = done.ticket;
    Judgement& result = results_[i];
    result.compilation =
        record_of(jobs_[i].compile, result.compilation.key, owner_.compilers_.version(), done);
    result.compile_ms = done.wall_ms;
    if (done.reproducible) owner_.store_.put_compilation(result.compilation);
    after_compilation(i);
  }

  /// Build and resource gates.
  void after_compilation(std::size_t i) {
    Judgement& result = results_[i];
    stages_[i] = Stage::kCompiled;
    if (!result.compilation.ok) {
      result.rejection = Rejection{Gate::kBuild, result.compilation.error, result.compilation.log};
      return;
    }
    try {
      result.launch = launch_on(*owner_.setup_.timed, i);
      result.kernel_key = kernel_key(i);
    } catch (const InputError& error) {
      // The expressions are the problem's, but only this configuration breaks them.
      result.rejection = Rejection{Gate::kResource, error.what()};
      return;
    }
    result.rejection = resource_gate(result.compilation.resources, result.launch,
                                     owner_.setup_.policy, owner_.setup_.device);
  }

  [[nodiscard]] LaunchConfig launch_on(const Shape& shape, std::size_t i) const {
    const PipelineSetup& setup = owner_.setup_;
    const Values macros = setup.problem->macros_for(shape);
    const Values device = {{"SM_COUNT", setup.device.sm_count}};
    return setup.kernel->launch.evaluate(
        merged({&jobs_[i].macros, &shape.variables, &macros, &device}));
  }

  /// Code and all that decides a verdict on every checked shape.
  [[nodiscard]] std::string kernel_key(std::size_t i) const {
    const PipelineSetup& setup = owner_.setup_;
    ContentHash hash;
    hash.add(results_[i].compilation.ptx_hash).add(setup.kernel->entry);
    // A reference is nobody's duplicate, and has no configuration to evaluate bounds with.
    if (setup.kernel == &setup.problem->reference) return hash.hex();
    for (const Shape* shape : setup.problem->checked_shapes(*setup.timed, *setup.kernel)) {
      add_shape(hash, *setup.problem, *setup.kernel, *shape, jobs_[i].macros, setup.device);
    }
    return hash.hex();
  }

  /// Moves the job at next_ on as far as it goes without waiting, then the one after it.
  void advance_device() {
    while (next_ < jobs_.size()) {
      Judgement& result = results_[next_];
      if (stages_[next_] == Stage::kCompiled) enter_device(next_);
      if (stages_[next_] == Stage::kChecking || stages_[next_] == Stage::kTiming) {
        const auto reply = owner_.device_->poll();
        if (!reply) return;
        take_reply(next_, *reply);
      }
      if (stages_[next_] != Stage::kDone) return;
      finished_(next_, result);
      ++next_;
    }
  }

  void enter_device(std::size_t i) {
    Judgement& result = results_[i];
    stages_[i] = Stage::kDone;
    if (result.rejection || owner_.device_ == nullptr) return;
    if (!owner_.known_kernels_.insert(result.kernel_key).second) {
      result.duplicate = true;
      return;
    }
    owner_.device_->submit_check(kernel(i));
    stages_[i] = Stage::kChecking;
  }

  [[nodiscard]] KernelUnderTest kernel(std::size_t i) const {
    return kernel_under_test(results_[i].compilation, results_[i].kernel_key,
                             owner_.setup_.kernel->entry, jobs_[i].macros);
  }

  void take_reply(std::size_t i, const DeviceClient::Reply& reply) {
    Judgement& result = results_[i];
    const bool checking = stages_[i] == Stage::kChecking;
    (checking ? result.check_ms : result.time_ms) = reply.wall_ms;
    stages_[i] = Stage::kDone;
    if (reply.failure) {
      result.rejection = Rejection{checking ? Gate::kCorrectness : Gate::kTiming, *reply.failure};
    } else if (checking) {
      auto outcome = reply.message.get<CorrectnessResult>();
      result.checks = std::move(outcome.checks);
      result.rejection = std::move(outcome.rejection);
      if (result.rejection) return;
      owner_.device_->submit_time(kernel(i), give_up_us_);
      stages_[i] = Stage::kTiming;
    } else {
      auto outcome = reply.message.get<TimingResult>();
      result.timing = outcome.timing;
      result.rejection = std::move(outcome.rejection);
    }
  }

  void wait_for_news() const {
    std::vector<pollfd> entries = owner_.compilers_.interests();
    Clock::time_point deadline = owner_.compilers_.next_deadline();
    const bool device_busy = owner_.device_ != nullptr && owner_.device_->is_busy();
    if (device_busy) {
      entries.push_back(owner_.device_->interest());
      deadline = std::min(deadline, owner_.device_->next_deadline());
    }
    constexpr double kLookForStopMs = 100;  // a signal may arrive between looking and polling
    double limit = kLookForStopMs;
    if (deadline != Clock::time_point::max()) {
      limit = std::clamp(milliseconds(deadline - Clock::now()), 0.0, kLookForStopMs);
    }
    ::poll(entries.data(), entries.size(), static_cast<int>(limit) + 1);
  }

  void account(double elapsed_ms, bool compiling, Stage device_stage) const {
    PhaseTimes& times = owner_.times_;
    const bool checking = device_stage == Stage::kChecking;
    const bool timing = device_stage == Stage::kTiming;
    if (compiling) times.compile_ms += elapsed_ms;
    if (checking) times.check_ms += elapsed_ms;
    if (timing) times.time_ms += elapsed_ms;
    if (compiling || checking || timing) times.busy_ms += elapsed_ms;
  }

  Pipeline& owner_;
  std::vector<KernelJob> jobs_;
  double give_up_us_;
  const Finished& finished_;
  std::vector<Judgement> results_;
  std::vector<Stage> stages_;
  std::size_t next_ = 0;  ///< the first job that is not done
};

std::vector<Judgement> Pipeline::judge(std::vector<KernelJob> jobs, double give_up_us,
                                       const std::atomic<bool>& stop, const Finished& finished) {
  const Clock::time_point start = Clock::now();
  Batch batch(*this, std::move(jobs), give_up_us, finished);
  batch.run(stop);
  times_.wall_ms += milliseconds(Clock::now() - start);
  return batch.take();
}

}  // namespace evo
