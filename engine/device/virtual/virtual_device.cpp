#include "engine/device/virtual/virtual_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/device/launch_steps.hpp"
#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/checks/store_owners.hpp"
#include "engine/device/virtual/decode/store_slice.hpp"
#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/device/virtual/memory/buffer_snapshot.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "engine/device/virtual/timing/predicted_profile.hpp"
#include "engine/device/virtual/timing/prediction.hpp"
#include "engine/device/virtual/virtual_kernel.hpp"
#include "engine/device/virtual/virtual_launch.hpp"
#include "engine/device/virtual/virtual_memory.hpp"
#include "engine/device/virtual/virtual_prediction.hpp"
#include "engine/ptx/source_lines.hpp"

namespace evo {
namespace {

using ptx::GlobalBuffer;

using ptx::LoadedEntry;
using ptx::LoadedKernel;

/// The least stall_budget (limit of a CTA's warp instructions without progress) in a cooperative
/// launch, unless VirtualOptions::stall_budget is smaller.
constexpr std::uint64_t kLeastStallBudget = 4'000'000;

class Implementation final : public VirtualDevice, private Predicting, private Interpreting {
 public:
  Implementation(const ptx::DeviceModel& model, const VirtualOptions& options)
      : model_(model), options_(options), memory_(model.info.id), clocks_(options.seed) {
    if (options_.threads <= 0)
      options_.threads = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  }

  [[nodiscard]] const DeviceInfo& info() const override { return model_.info; }
  [[nodiscard]] DeviceMemory& memory() override { return memory_; }
  [[nodiscard]] DeviceTextures* textures() override { return &memory_; }
  [[nodiscard]] Predicting* predicting() override { return this; }
  [[nodiscard]] Interpreting* interpreting() override { return this; }

  std::variant<KernelId, Fault> load(const KernelImage& image) override {
    try {
      LoadedKernel kernel = ptx::load_kernel(image, memory_.global);
      const KernelId id = next_id_++;
      kernels_[id] = std::move(kernel);
      return id;
    } catch (const ptx::PtxError& error) {
      return Fault{.reason = ptx::with_statement(error, image.ptx), .kind = FaultKind::kRefused};
    }
  }

  void unload(KernelId kernel) override {
    ptx::unload_kernel(kernel_at(kernel), memory_.global);
    kernels_.erase(kernel);
  }

  [[nodiscard]] std::optional<std::string> variables_hash(KernelId kernel) const override {
    ContentHash hash;
    for (const GlobalBuffer* variable : kernel_at(kernel).variables) {
      if (variable->writable) {
        hash.add({reinterpret_cast<const char*>(variable->data.get()), variable->bytes});
      }
    }
    return hash.hex();
  }

  std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                              std::span<const KernelArgument> arguments) override {
    const LoadedKernel& loaded = kernel_at(kernel);
    if (auto fault = take_constants(loaded, arguments)) return fault;
    statistics_ = {};
    printed_.clear();
    unordered_read_.clear();
    const bool is_sampled = plan.steps.size() == 1;
    for (const LaunchStep& step : plan.steps) {
      const LoadedEntry& entry = loaded.entries.at(step.entry);
      Outcome outcome = run(entry, step.config, parameters_of(step, arguments),
                            {.sample = is_sampled ? sample_ : std::vector<std::uint64_t>()});
      if (outcome.fault) return in_step(*std::move(outcome.fault), plan, entry.symbol);
    }
    return std::nullopt;
  }

  [[nodiscard]] const VirtualStatistics& statistics() const override { return statistics_; }
  [[nodiscard]] const std::vector<ptx::PredictedLaunch>& predictions() const override {
    return predictions_;
  }
  [[nodiscard]] const std::string& printed() const override { return printed_; }

 private:
  // Predicting

  /// Runs the steps of the launch without checks, predicts their times, and then restores the
  /// buffers. If possible, runs only a sample of the CTAs of the last step, because no later step
  /// uses the results of this step.
  std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                         std::span<const KernelArgument> arguments) override {
    const LoadedKernel& loaded = kernel_at(kernel);
    const ptx::BufferSnapshot snapshot(memory_.global);
    if (auto fault = take_constants(loaded, arguments)) return *std::move(fault);
    statistics_ = {};
    predictions_.clear();
    double us = 0;
    for (const LaunchStep& step : plan.steps) {
      const LoadedEntry& entry = loaded.entries.at(step.entry);
      const auto step_us = predict_step(entry, step.config, parameters_of(step, arguments),
                                        &step == &plan.steps.back());
      if (const auto* fault = std::get_if<Fault>(&step_us))
        return in_step(*fault, plan, entry.symbol);
      us += std::get<double>(step_us);
    }
    return us;
  }

  [[nodiscard]] std::map<std::string, double> predicted_profile() const override {
    return ptx::predicted_profile(predictions_);
  }
  [[nodiscard]] std::string prediction_gaps() const override {
    return ptx::gaps_text(predictions_);
  }

  // Interpreting

  std::variant<WriteMap, std::string> write_map(KernelId kernel, const LaunchPlan& plan,
                                                std::span<const KernelArgument> arguments,
                                                std::span<const BufferId> outputs) override {
    if (plan.steps.size() != 1) return std::string("the kernel is launched in several steps");
    const LoadedKernel& loaded = kernel_at(kernel);
    if (auto fault = take_constants(loaded, arguments)) return fault->reason;
    const LaunchStep& step = plan.steps.front();
    const LoadedEntry& entry = loaded.entries.at(step.entry);
    auto slice = ptx::slice_of_stores(*entry.program);
    if (auto* why = std::get_if<std::string>(&slice)) return std::move(*why);
    LoadedEntry sliced = entry;
    sliced.program = std::make_shared<ptx::Program>(std::get<ptx::Program>(std::move(slice)));
    std::vector<const GlobalBuffer*> buffers;
    for (const BufferId output : outputs) buffers.push_back(&memory_.at(output));
    if (ptx::StoreOwners::bytes_for(buffers, entry.program->global_granule) >
        ptx::StoreOwners::kMostBytes)
      return std::string("the outputs are too large to record which CTAs write them");
    ptx::StoreOwners owners(buffers, entry.program->global_granule);
    const Outcome outcome =
        run(sliced, step.config, parameters_of(step, arguments), {.owners = &owners});
    if (outcome.fault) return outcome.fault->reason;
    if (owners.has_overlaps()) return std::string("several CTAs write the same bytes");
    if (owners.went_elsewhere()) return std::string("CTAs write to other memory than outputs");
    WriteMap map{static_cast<std::size_t>(entry.program->global_granule), {}};
    for (std::size_t i = 0; i < buffers.size(); ++i) map.owners.push_back(owners.owners(i));
    return map;
  }

  void set_cta_sample(std::vector<std::uint64_t> ctas) override { sample_ = std::move(ctas); }
  void set_checks(bool on) override { options_.checks = on; }
  [[nodiscard]] std::optional<std::size_t> first_unwritten(BufferId buffer) const override {
    const GlobalBuffer& source = memory_.at(buffer);
    if (source.all_written.load() || source.bytes == 0) return std::nullopt;
    const void* found = std::memchr(source.written.get(), 0, source.bytes);
    if (found == nullptr) return std::nullopt;
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - source.written.get());
  }

  [[nodiscard]] std::string unordered_read() const override { return unordered_read_; }
  [[nodiscard]] std::vector<bool> written(BufferId buffer) const override {
    const GlobalBuffer& source = memory_.at(buffer);
    const std::span<const std::uint8_t> marks(source.written.get(), source.bytes);
    return std::vector<bool>(marks.begin(), marks.end());
  }

  struct Outcome {
    std::optional<Fault> fault;
    ptx::GridCounts counts;
  };

  const LoadedKernel& kernel_at(KernelId id) const {
    const auto found = kernels_.find(id);
    if (found == kernels_.end())
      throw InputError("no kernel " + std::to_string(id) + " on " + model_.info.id);
    return found->second;
  }

  /// Removes from `arguments` those that set __constant__ variables, and copies their content to
  /// the variables.
  std::optional<Fault> take_constants(const LoadedKernel& kernel,
                                      std::span<const KernelArgument>& arguments) {
    const std::size_t count = std::min(kernel.constants.size(), arguments.size());
    const std::span<const KernelArgument> values = arguments.last(count);
    arguments = arguments.first(arguments.size() - count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      GlobalBuffer* target = kernel.constants[i];
      if (target == nullptr) continue;
      const GlobalBuffer& source = memory_.at(std::get<BufferId>(values[i]));
      if (source.bytes > target->bytes) {
        return Fault{constant_too_small(target->name, target->bytes, source.name, source.bytes)};
      }
      std::memcpy(target->data.get(), source.data.get(), source.bytes);
      target->mark_written(source.bytes);
    }
    return std::nullopt;
  }

  std::variant<double, Fault> predict_step(const LoadedEntry& entry, const LaunchConfig& config,
                                           std::span<const KernelArgument> arguments,
                                           bool is_last) {
    ptx::StepToPredict step{
        .entry = entry, .config = config, .is_last = is_last, .seed = options_.seed};
    for (const KernelArgument& argument : arguments) {
      const auto* buffer = std::get_if<BufferId>(&argument);
      if (buffer == nullptr) continue;
      const GlobalBuffer& given = memory_.at(*buffer);
      const std::size_t sets = given.is_kept    ? 1
                               : given.writable ? kTimedInputSets + 1
                                                : kTimedInputSets;
      const auto bytes = static_cast<double>(given.bytes);
      step.footprint_bytes += bytes;
      step.fresh_bytes += given.is_kept ? 0 : bytes;
      step.rotation_bytes += bytes * static_cast<double>(sets);
    }
    ptx::StoreOwners nobody({}, entry.program->global_granule);
    auto predicted = ptx::predict_step(
        model_, step,
        [&](const LoadedEntry& part, ptx::GridPart grid) -> std::variant<ptx::GridCounts, Fault> {
          Outcome outcome = run(part, config, arguments,
                                {.count_memory = !grid.is_slice,
                                 .sample = std::move(grid.ctas),
                                 .owners = grid.is_slice ? &nobody : nullptr,
                                 .note_ways = grid.is_slice});
          if (outcome.fault) return *std::move(outcome.fault);
          return std::move(outcome.counts);
        });
    if (auto* fault = std::get_if<Fault>(&predicted)) return std::move(*fault);
    predictions_.push_back(std::get<ptx::PredictedLaunch>(std::move(predicted)));
    return predictions_.back().us;
  }

  struct RunOptions {
    bool count_memory = false;               ///< counts memory operations for the predicted time
    std::vector<std::uint64_t> sample = {};  ///< linear indices of the CTAs to run; empty: all
    ptx::StoreOwners* owners =
        nullptr;  ///< null, unless the kernel is a slice that only records which CTA stores where
    bool note_ways = false;  ///< record GridCounts::ways
  };

  /// Runs one step of a launch.
  Outcome run(const LoadedEntry& kernel, const LaunchConfig& config,
              std::span<const KernelArgument> arguments, const RunOptions& run_options) {
    if (auto refused = ptx::launch_refusal(model_, *kernel.program, kernel.registers, config)) {
      return {std::move(refused), {}};
    }
    auto packed = ptx::pack_arguments(
        *kernel.program, arguments,
        {.address = [&](BufferId buffer) { return memory_.at(buffer).base; },
         .handle = [&](TextureId texture) { return memory_.handle_of(texture); }});
    if (auto* fault = std::get_if<Fault>(&packed)) return {std::move(*fault), {}};
    ptx::HazardLog log(options_.max_hazards);
    ptx::PrintLog printed;
    ptx::LaunchContext context;
    describe(context, kernel, config, run_options);
    context.hazards = &log;
    context.printed = &printed;
    context.parameters = std::get<std::vector<std::byte>>(std::move(packed));
    const std::uint32_t own_shared_bytes = ptx::place_shared_memory(context);
    const auto occupied =
        ptx::occupancy(model_, kernel.registers, static_cast<int>(config.threads()),
                       static_cast<int>(own_shared_bytes));
    ptx::GridOptions grid;
    grid.resident =
        static_cast<std::size_t>(std::max(occupied.ctas_per_sm * model_.info.sm_count, 1));
    grid.sample = run_options.sample;
    grid.note_ways = run_options.note_ways;
    grid.together = kernel.program->cooperative;
    grid.in_turns = context.count_memory && kernel.program->claims_work;
    // How long CTAs wait for each other, and which work they claim, must not depend on the host.
    const bool may_vary = context.count_memory && (grid.in_turns || grid.together);
    grid.threads = may_vary ? 1 : options_.threads;
    if (grid.together) {
      if (auto refused = prepare_together(kernel, config, context, grid)) {
        return {std::move(refused), {}};
      }
    }
    const auto start = std::chrono::steady_clock::now();
    Outcome outcome;
    outcome.counts = ptx::run_grid(context, grid);
    clocks_.pass(context.number, outcome.counts.warp_instructions);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    statistics_ = {statistics_.ctas + outcome.counts.ctas,
                   statistics_.warp_instructions + outcome.counts.warp_instructions,
                   statistics_.seconds + taken.count()};
    if (!context.count_memory) printed_ += printed.text();
    outcome.fault = ptx::fault_of(*kernel.program, log);
    if (context.unordered_read >= 0 && unordered_read_.empty())
      unordered_read_ = ptx::describe_instruction(*kernel.program, context.unordered_read);
    return outcome;
  }

  /// Sets the members of `context` that depend only on the device, the kernel, the launch
  /// configuration and the run options. Increments the launch number, unless the kernel is a slice.
  void describe(ptx::LaunchContext& context, const LoadedEntry& kernel, const LaunchConfig& config,
                const RunOptions& run_options) {
    context.program = kernel.program.get();
    context.owners = run_options.owners;
    context.memory = &memory_.global;
    context.textures = &memory_.textures;
    context.numerics = ptx::mma_numerics(kernel.program->target);
    context.grid = config.grid;
    context.block = config.block;
    context.dynamic_shared_bytes = config.dynamic_shared_bytes;
    context.registers_per_thread = static_cast<std::uint32_t>(
        kernel.registers > 0 ? kernel.registers : kernel.program->launch_registers);
    context.sm_count = model_.info.sm_count;
    context.check = options_.checks && !run_options.count_memory && context.owners == nullptr;
    context.count_memory = run_options.count_memory;
    context.number = launches_;
    if (context.owners == nullptr) ++launches_;
    // In the first launch and in predictions, the order of warps depends only on the seed that the
    // user gave.
    const bool is_as_asked = context.number == 0 || context.count_memory;
    context.seed = is_as_asked ? options_.seed : mix_seed(options_.seed, context.number);
    context.placement = ptx::Placement(options_.seed, is_as_asked ? 0 : context.number,
                                       model_.info.sm_count, model_.max_warps_per_sm);
    context.clocks = clocks_;
    context.stall_budget = options_.stall_budget;
    context.issue_budget = options_.issue_budget;
  }

  /// Prepares a cooperative launch. Returns a fault if the CTAs of a cooperative launch cannot all
  /// be resident at once.
  static std::optional<Fault> prepare_together(const LoadedEntry& kernel,
                                               const LaunchConfig& config,
                                               ptx::LaunchContext& context,
                                               ptx::GridOptions& grid) {
    const std::uint64_t ctas = config.ctas();
    if (auto refused = ptx::cooperative_refusal(ctas, grid.resident, ptx::ctas_on_host(context)))
      return refused;
    grid.sample.clear();  // a sample would wait for CTAs that do not run
    context.grid_workspace = ptx::clear_grid_workspace(*kernel.grid_workspace);
    context.stall_budget =
        std::max(context.stall_budget / ctas, std::min(context.stall_budget, kLeastStallBudget));
    return std::nullopt;
  }

  const ptx::DeviceModel& model_;
  VirtualOptions options_;
  ptx::VirtualMemory memory_;
  std::uint64_t launches_ = 0;
  ptx::DeviceClocks clocks_;
  std::map<KernelId, LoadedKernel> kernels_;
  std::uint32_t next_id_ = 1;
  std::vector<std::uint64_t> sample_;
  VirtualStatistics statistics_;
  std::vector<ptx::PredictedLaunch> predictions_;
  std::string printed_;
  std::string unordered_read_;
};

}  // namespace

std::unique_ptr<VirtualDevice> open_virtual_device(std::string_view id,
                                                   const VirtualOptions& options) {
  return std::make_unique<Implementation>(ptx::device_model(id), options);
}

}  // namespace evo
