// op-costs: prints the cost of single operations on a device, for the time model. Costs are
// measured on a GPU and predicted on a virtual GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/statistics.hpp"
#include "engine/device/open_device.hpp"
#include "tools/bench/op_costs_kernels.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

/// Runs kernels on a device and returns their measured or predicted times.
class Bench {
 public:
  explicit Bench(const std::string& device)
      : device_(open_device(device)), compiler_(open_nvrtc()) {
    out_ = device_->memory().allocate({"out", std::size_t{4} << 20, true});
    device_->memory().fill(out_, std::byte{0});
  }

  [[nodiscard]] const DeviceInfo& info() const { return device_->info(); }

  /// Compiles all sources in parallel, so that load() need not compile them one after the other.
  void compile_ahead(const std::vector<std::string>& sources) {
    std::vector<CompileOutcome> outcomes(sources.size(), Rejection{});
    in_parallel(std::thread::hardware_concurrency(), sources.size(), [&](const auto& next) {
      while (const auto i = next()) outcomes[*i] = compile(sources[*i]);
    });
    for (std::size_t i = 0; i < sources.size(); ++i) ahead_[sources[i]] = std::move(outcomes[i]);
  }

  KernelId load(const std::string& source) {
    const auto ahead = ahead_.find(source);
    const CompileOutcome outcome = ahead != ahead_.end() ? ahead->second : compile(source);
    if (const auto* rejection = std::get_if<Rejection>(&outcome))
      throw NvrtcError(rejection->reason + "\n" + rejection->detail);
    const auto& compiled = std::get<Compiled>(outcome);
    auto loaded = device_->load({compiled.ptx, compiled.cubin, {"k"}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) throw CudaError(fault->reason);
    return std::get<KernelId>(loaded);
  }

  /// A buffer of `words` words that form a chain: each word holds the index of the next word. In a
  /// chain shorter than kStride, the next word is the neighbour.
  BufferId chain(std::size_t words) {
    constexpr std::size_t kStride = 33 * 64;  // in words; larger than a cache line
    std::vector<std::uint32_t> next(words);
    for (std::size_t i = 0; i < words; ++i)
      next[i] =
          static_cast<std::uint32_t>(words < kStride ? (i + 1) % words : (i + kStride) % words);
    const BufferId buffer = device_->memory().allocate({"in", words * sizeof(std::uint32_t), true});
    device_->memory().upload(buffer, std::as_bytes(std::span(next)));
    return buffer;
  }

  void release(BufferId buffer) { device_->memory().release(buffer); }
  void unload(KernelId kernel) { device_->unload(kernel); }

  /// Median microseconds per launch k(out, in, n) in graphs of many launches, which read the
  /// buffers `in` in turn. On a virtual GPU: the predicted time of one launch that reads the first
  /// buffer.
  double us(KernelId kernel, unsigned ctas, unsigned threads, std::uint32_t dynamic_bytes,
            const std::vector<BufferId>& in, int n) {
    const int launches = std::max(20, static_cast<int>(in.size()));
    constexpr int kSamples = 7;
    LaunchConfig config;
    config.grid = {ctas, 1, 1};
    config.block = {threads, 1, 1};
    config.dynamic_shared_bytes = dynamic_bytes;
    const LaunchPlan plan(config);
    std::vector<std::vector<KernelArgument>> sets;
    for (const BufferId buffer : in) sets.push_back({out_, buffer, ScalarArgument::of(n)});
    const auto value_of = [](const std::variant<double, Fault>& result) {
      if (const auto* fault = std::get_if<Fault>(&result)) throw CudaError(fault->reason);
      return std::get<double>(result);
    };
    if (device_->info().time_kind == TimeKind::kPredicted)
      return value_of(device_->predicting()->predict_us(kernel, plan, sets.front()));
    auto made = device_->measuring()->make_graph(kernel, plan, sets, launches);
    if (const auto* fault = std::get_if<Fault>(&made)) throw CudaError(fault->reason);
    const GraphId graph = std::get<GraphId>(made);
    std::vector<double> samples;
    for (int i = 0; i <= kSamples; ++i) {
      const double value = value_of(device_->measuring()->run_graph(graph)) / launches;
      if (i > 0) samples.push_back(value);
    }
    device_->measuring()->release_graph(graph);
    std::ranges::sort(samples);
    return quantile(samples, 0.5);
  }

 private:
  CompileOutcome compile(const std::string& source) {
    return outcome_of(
        compiler_->compile({{"k.cu", source, {}}, {"k"}, device_->info().arch, {"-lineinfo"}}));
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;
  std::map<std::string, CompileOutcome> ahead_;  ///< by source
  BufferId out_ = 0;
};

constexpr std::uint32_t kSharedBytes = 4096;

void print_operation(Bench& bench, const Operation& operation) {
  constexpr int kFew = 64;
  constexpr int kMany = 320;
  const KernelId kernel = bench.load(source_of(operation));
  const BufferId in = bench.chain(operation.chase);
  const auto threads = static_cast<unsigned>(32 * operation.warps);
  const double few = bench.us(kernel, 1, threads, kSharedBytes, {in}, kFew);
  const double many = bench.us(kernel, 1, threads, kSharedBytes, {in}, kMany);
  const double per_body = operation.repeats > 1 ? 8 : 1;
  const double clocks = (many - few) * bench.info().clock_mhz /
                        ((kMany - kFew) * operation.ops * operation.repeats * per_body);
  std::printf("%-36s %9.2f\n", operation.name.c_str(), clocks);
  bench.release(in);
  bench.unload(kernel);
}

void print_launches(Bench& bench) {
  const KernelId kernel = bench.load(source_of({"", "", "", "0"}));
  const BufferId in = bench.chain(256);
  for (const std::uint32_t bytes : {0U, 100U << 10, 200U << 10}) {
    for (const unsigned threads : {32U, 128U, 512U}) {
      for (const unsigned per_sm : {0U, 1U, 2U, 8U, 32U}) {
        const unsigned ctas = std::max(1U, per_sm * static_cast<unsigned>(bench.info().sm_count));
        if (bytes > static_cast<std::uint32_t>(bench.info().max_shared_bytes_per_cta)) continue;
        std::printf("%6u CTAs of %3u threads, %3u KiB shared %9.3f us\n", ctas, threads,
                    bytes >> 10, bench.us(kernel, ctas, threads, bytes, {in}, 0));
      }
    }
  }
  bench.release(in);
  bench.unload(kernel);
}

/// Prints the times of long code that is executed once and twice. If the code fits into the cache,
/// only the first execution waits for instruction fetch.
void print_code(Bench& bench) {
  const BufferId in = bench.chain(256);
  for (const int instructions : {64, 512, 2048, 4096}) {
    const std::string setup =
        "float x[4]; for (int j = 0; j < 4; ++j) x[j] = __uint_as_float(in[0] + j);";
    std::string body;
    for (int i = 0; i < 4; ++i)
      body += fmt::format("x[{0}] = __fmaf_rn(x[{0}], x[{1}], x[{0}]);", i, (i + 1) % 4);
    const KernelId kernel = bench.load(source_of(
        {"", setup, body, "__float_as_uint(x[0] + x[1] + x[2] + x[3])", 1, instructions / 4}));
    const auto ctas = static_cast<unsigned>(bench.info().sm_count);
    std::printf(
        "%6d instructions once: one warp of an SM %8.3f us, four %8.3f us; twice: %8.3f us\n",
        instructions, bench.us(kernel, ctas, 32, kSharedBytes, {in}, 1),
        bench.us(kernel, ctas, 128, kSharedBytes, {in}, 1),
        bench.us(kernel, ctas, 128, kSharedBytes, {in}, 2));
    bench.unload(kernel);
  }
  bench.release(in);
}

void print_streams(Bench& bench) {
  constexpr int kFew = 2;
  constexpr int kMany = 6;
  const auto sms = static_cast<unsigned>(bench.info().sm_count);
  for (const bool writes : {false, true}) {
    for (const std::size_t mebibytes : {8U, 24U, 512U}) {
      const std::size_t bytes = mebibytes << 20;
      const BufferId in = bench.chain(bytes / 4);
      const KernelId kernel = bench.load(stream_source(bytes, writes));
      for (const unsigned ctas : {1U, 2 * sms}) {
        const double us = bench.us(kernel, ctas, 1024, 0, {in}, kMany) -
                          bench.us(kernel, ctas, 1024, 0, {in}, kFew);
        const double each = static_cast<double>(bytes) * (kMany - kFew) /
                            (us * bench.info().clock_mhz * std::min(ctas, sms));
        std::printf("%3zu MiB, %s, %s %8.1f\n", mebibytes, writes ? "written" : "read",
                    ctas == 1 ? "one SM " : "all SMs", each);
      }
      bench.unload(kernel);
      bench.release(in);
    }
  }
}

/// Prints the time of launches that take turns between buffers of 8 MiB; each CTA reads 4 KiB not
/// at all, once, or twice.
void print_first_reads(Bench& bench) {
  const auto sms = static_cast<unsigned>(bench.info().sm_count);
  const KernelId kernel = bench.load(stream_source(std::size_t{1024} * 4 * sms, false));
  std::vector<BufferId> in;
  for (const std::size_t buffers : {1U, 4U, 32U}) {
    while (in.size() < buffers) in.push_back(bench.chain(std::size_t{2} << 20));
    std::printf("%3zu buffers in turn: read not at all %8.3f us, once %8.3f us, twice %8.3f us\n",
                buffers, bench.us(kernel, sms, 256, 0, in, 0), bench.us(kernel, sms, 256, 0, in, 1),
                bench.us(kernel, sms, 256, 0, in, 2));
  }
  for (const BufferId buffer : in) bench.release(buffer);
  bench.unload(kernel);
}

void run(const std::string& device) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // shows each line at once, also in a pipe
  Bench bench(device);
  const bool measured = bench.info().time_kind == TimeKind::kMeasured;
  std::printf("%s, %.0f MHz, %s\n\nclocks from one operation to the next that needs its result\n",
              bench.info().name.c_str(), bench.info().clock_mhz,
              measured ? "measured" : "PREDICTED");
  std::vector<std::string> sources;
  for (const auto& operations : {chained_operations(), streamed_operations()})
    for (const Operation& operation : operations) sources.push_back(source_of(operation));
  bench.compile_ahead(sources);
  for (const Operation& operation : chained_operations()) print_operation(bench, operation);
  std::printf("\nclocks that one operation of a warp occupies a sub-core\n");
  for (const Operation& operation : streamed_operations()) print_operation(bench, operation);
  std::printf("\nlaunches of an empty kernel\n");
  print_launches(bench);
  if (measured) {  // these kernels are too long for the virtual GPU
    std::printf("\nbytes per clock and SM\n");
    print_streams(bench);
    std::printf("\nreading from buffers that launches take in turn\n");
    print_first_reads(bench);
  }
  std::printf("\ncode that is executed once\n");
  print_code(bench);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app(
      "Prints the cost of single operations, launches and code on a device: measured on a GPU,\n"
      "predicted on a virtual GPU. The time model of virtual GPUs uses measured costs.");
  std::string device = "cuda:0";
  app.add_option("--device", device, "cuda:N or virtual:NAME")->capture_default_str();
  return evo::tool_main("op-costs", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::run(device);
    return evo::ExitCode::kGreen;
  });
}
