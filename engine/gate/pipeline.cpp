#include "engine/gate/pipeline.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

CompilationRecord record_of(const CompileRequest& request, const std::string& key,
                            const std::string& compiler, const CompileOutcome& outcome) {
  CompilationRecord record;
  record.key = key;
  record.arch = request.arch;
  record.compiler = compiler;
  for (const std::string& option : request.options) {
    record.options += (record.options.empty() ? "" : " ") + option;
  }
  record.source = request.source.expanded();
  if (const auto* compiled = std::get_if<Compiled>(&outcome)) {
    record.ok = true;
    record.compile_ms = compiled->compile_ms;
    record.ptx_hash = compiled->ptx_hash;
    record.resources = compiled->resources;
    record.log = compiled->log;
    record.ptx = compiled->ptx;
    record.cubin = compiled->cubin;
  } else {
    record.error = std::get<Rejection>(outcome).reason;
    record.log = std::get<Rejection>(outcome).detail;
  }
  return record;
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
    if (auto known = owner_.store_.find_compilation(key)) {
      result.compilation = std::move(*known);
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
    result.compilation = record_of(jobs_[i].compile, result.compilation.key,
                                   owner_.compilers_.version(), done.outcome);
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
      // The geometry's expressions are the problem's, but only this configuration breaks them.
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

  /// PTX and the geometry on every checked shape.
  [[nodiscard]] std::string kernel_key(std::size_t i) const {
    ContentHash hash;
    hash.add(results_[i].compilation.ptx_hash);
    for (const Shape* shape :
         owner_.setup_.problem->checked_shapes(*owner_.setup_.timed, *owner_.setup_.kernel)) {
      const LaunchConfig launch = launch_on(*shape, i);
      for (const auto& dimensions : {launch.grid, launch.block}) {
        for (const std::uint32_t size : dimensions) hash.add(std::to_string(size));
      }
      hash.add(std::to_string(launch.dynamic_shared_bytes));
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
    std::vector<pollfd> entries;
    for (const int descriptor : owner_.compilers_.descriptors()) {
      entries.push_back({descriptor, POLLIN, 0});
    }
    Clock::time_point deadline = owner_.compilers_.next_deadline();
    const bool device_busy = owner_.device_ != nullptr && owner_.device_->is_busy();
    if (device_busy) {
      entries.push_back({owner_.device_->descriptor(), POLLIN, 0});
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
