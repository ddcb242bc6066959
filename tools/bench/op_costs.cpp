// op-costs: what single operations cost on a device, as the time model of predicted times needs to
// know it: measured on a card, predicted on a virtual one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/statistics.hpp"
#include "engine/device/open_device.hpp"
#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace evo {
namespace {

/// A kernel that does one operation `ops` times in each of n rounds. Its time is the difference of
/// two n.
struct Operation {
  std::string name;
  std::string setup;   ///< before the rounds; `in`, `out`, `shared`, `t` (thread) are there
  std::string body;    ///< one operation; `i` counts the rounds
  std::string result;  ///< unsigned, so that nothing is left out
  int warps = 1;
  int ops = 16;             ///< of the body in a round
  std::size_t chase = 256;  ///< words of `in` through which a chain of indices leads
  int repeats = 1;          ///< warps of one sub-core that share the cost
};

std::string float_chain(const std::string& name) {
  return fmt::format(R"(asm volatile("{} %0, %0;" : "+f"(x));)", name);
}

/// Results that the next operation waits for: latencies.
std::vector<Operation> chains() {
  const std::string word = "unsigned a = n < 0;";
  const std::string real = "float x = __uint_as_float(in[0]);";
  const auto load = [](const std::string& how) {
    return fmt::format(R"(asm volatile("ld.global.{}.u32 %0, [%1];" : "=r"(a) : "l"(in + a));)",
                       how);
  };
  const std::string sum = "float c[4] = {x, x, x, x};";
  return {
      {"round of one add", word, "asm volatile(\"add.u32 %0, %0, %0;\" : \"+r\"(a));", "a", 1, 1},
      {"f32 multiply-add", real, "x = __fmaf_rn(x, x, x);", "__float_as_uint(x)"},
      {"integer add", word, "asm volatile(\"add.u32 %0, %0, %0;\" : \"+r\"(a));", "a"},
      {"f64 multiply-add", "double d = in[0];", "d = __fma_rn(d, d, d);", "(unsigned)d"},
      {"MUFU (ex2)", real, float_chain("ex2.approx.ftz.f32"), "__float_as_uint(x)"},
      {"f32 to f16x2", real,
       "asm volatile(\"{.reg .b32 p; cvt.rn.f16x2.f32 p, %0, %0; mov.b32 %0, p;}\" : \"+f\"(x));",
       "__float_as_uint(x)"},
      {"e4m3x2 to f16x2", word,
       "asm volatile(\"{.reg .b16 lo, hi; mov.b32 {lo, hi}, %0; cvt.rn.f16x2.e4m3x2 %0, lo;}\" : "
       "\"+r\"(a));",
       "a"},
      {"shuffle", "unsigned a = in[t];", "a = __shfl_xor_sync(0xffffffffu, a, 1);", "a"},
      {"shared load", word + "shared[t] = 0; __syncthreads();", "a = shared[a];", "a"},
      {"ldmatrix.x4",
       word + "shared[t] = 0; __syncthreads();"
              "unsigned s = (unsigned)__cvta_generic_to_shared(shared);",
       "asm volatile(\"{.reg .b32 p, q, r; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, p, q, r}, "
       "[%1];}\" : \"=r\"(a) : \"r\"(s + a)); ",
       "a"},
      {"load from L1", word, load("ca"), "a", 1, 16, 1024},
      {"load from L2", word, load("cg"), "a", 1, 16, 1 << 20},
      {"atomic add with result", word, "a = atomicAdd(out + 64 + a, a);", "a"},
      {"fence", word, "__threadfence();", "a"},
      {"store and fence", word,
       "asm volatile(\"st.global.u32 [%0], %1;\" :: \"l\"(out + 64), \"r\"(i)); __threadfence();",
       "a"},
      {"cp.async and wait", word,
       "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group; "
       "cp.async.wait_group 0;\" :: "
       "\"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(in) : \"memory\");",
       "a"},
      {"barrier of 4 warps", word, "__syncthreads();", "a", 4},
      {"barrier of 16 warps", word, "__syncthreads();", "a", 16},
      {"mbarrier, arrive and wait",
       word + "unsigned s = (unsigned)__cvta_generic_to_shared(shared), phase = 0;"
              "if (t == 0) asm volatile(\"mbarrier.init.shared.b64 [%0], 32;\" :: \"r\"(s));"
              "__syncthreads();",
       "asm volatile(\"{.reg .b64 state; .reg .pred done; mbarrier.arrive.shared.b64 state, [%0]; "
       "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra again;}\" :: "
       "\"r\"(s), \"r\"(phase) : \"memory\"); phase ^= 1;",
       "a", 1, 1},
      {"mma m16n8k16 f16", real + sum,
       "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, "
       "%4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};\" : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), "
       "\"+f\"(c[3]) : \"r\"(t));",
       "__float_as_uint(c[0] + c[1] + c[2] + c[3])"},
  };
}

/// Independent operations of many warps: clocks that one occupies its unit of a sub-core.
std::vector<Operation> streams() {
  const std::string words = "unsigned a[8]; for (int j = 0; j < 8; ++j) a[j] = in[0] + t + j;";
  const std::string reals =
      "float x[8]; for (int j = 0; j < 8; ++j) x[j] = __uint_as_float(in[0] + t + j);";
  const std::string any_word = "a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7]";
  const std::string any_real =
      "__float_as_uint(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])";
  const auto each = [](const std::string& text) {
    std::string all;
    for (int j = 0; j < 8; ++j) {
      for (const char c : text) all.push_back(c == '#' ? static_cast<char>('0' + j) : c);
    }
    return all;
  };
  const std::string add = "asm volatile(\"add.u32 %0, %0, %0;\" : \"+r\"(a[#]));";
  const std::string multiply = "x[#] = __fmaf_rn(x[#], x[#], x[#]);";
  const std::string half = "asm volatile(\"fma.rn.f16x2 %0, %0, %0, %0;\" : \"+r\"(a[#]));";
  const std::string exponential = "asm volatile(\"ex2.approx.ftz.f32 %0, %0;\" : \"+f\"(x[#]));";
  const std::string pack_halves =
      "asm volatile(\"{.reg .b32 p; cvt.rn.f16x2.f32 p, %0, %0; mov.b32 %0, p;}\" : "
      "\"+f\"(x[#]));";
  const std::string pack_bytes =
      "asm volatile(\"{.reg .b16 p; cvt.rn.satfinite.e4m3x2.f32 p, %0, %0; mov.b32 %0, {p, "
      "p};}\" : \"+f\"(x[#]));";
  const std::string unpack =
      "asm volatile(\"{.reg .b16 lo, hi; mov.b32 {lo, hi}, %0; cvt.rn.f16x2.e4m3x2 %0, lo;}\" : "
      "\"+r\"(a[#]));";
  const std::string shuffle = "a[#] = __shfl_xor_sync(0xffffffffu, a[#], 1);";
  const std::string load =
      "asm volatile(\"ld.volatile.shared.u32 %0, [%1];\" : \"=r\"(a[#]) : \"r\"((unsigned)"
      "__cvta_generic_to_shared(shared + t % 32)));";
  const std::string matrix =
      "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, "
      "%6, %7}, {%8, %9}, {%0, %1, %2, %3};\" : \"+f\"(c[#][0]), \"+f\"(c[#][1]), "
      "\"+f\"(c[#][2]), \"+f\"(c[#][3]) : \"r\"(b[0]), \"r\"(b[1]), \"r\"(b[2]), "
      "\"r\"(b[3]), \"r\"(b[4]), \"r\"(b[5]));";
  const std::string sums =
      "float c[8][4] = {}; unsigned b[6]; for (int j = 0; j < 6; ++j) b[j] = "
      "in[0] + t * j;";
  const std::string ready = "shared[t] = t; __syncthreads();";
  const std::string any_sum =
      "__float_as_uint(c[0][0] + c[1][1] + c[2][2] + c[3][3] + c[4][0] + c[5][1] + c[6][2] + "
      "c[7][3])";
  std::vector<Operation> all = {
      {"f32 multiply-add", reals, each(multiply), any_real},
      {"integer add", words, each(add), any_word},
      {"integer multiply-add", words, each("a[#] = a[#] * a[#] + a[#];"), any_word},
      {"f16x2 multiply-add", words, each(half), any_word},
      {"prmt", words, each("a[#] = __byte_perm(a[#], t, a[#]);"), any_word},
      {"MUFU (ex2)", reals, each(exponential), any_real},
      {"f32 to f16x2", reals, each(pack_halves), any_real},
      {"f32 to e4m3x2", reals, each(pack_bytes), any_real},
      {"e4m3x2 to f16x2", words, each(unpack), any_word},
      {"shuffle", words, each(shuffle), any_word},
      {"shared load of 4 bytes", words + ready, each(load), any_word},
      {"mma m16n8k16 f16", sums, each(matrix), any_sum},
      // Pairs: less than the sum where they have units of their own.
      {"ex2, f32 to f16x2", reals, each(exponential + pack_halves), any_real},
      {"ex2, e4m3x2 to f16x2", reals + words, each(exponential + unpack),
       any_real + "+" + any_word},
      {"ex2, integer add", reals + words, each(exponential + add), any_real + "+" + any_word},
      {"ex2, shuffle", reals + words, each(exponential + shuffle), any_real + "+" + any_word},
      {"e4m3x2 to f16x2, integer add", words, each(unpack + add), any_word},
      {"e4m3x2 to f16x2, f32 multiply-add", reals + words, each(unpack + multiply),
       any_real + "+" + any_word},
      {"f32 multiply-add, integer add", reals + words, each(multiply + add),
       any_real + "+" + any_word},
      {"mma, ex2", reals + sums, each(matrix + exponential), any_real + "+" + any_sum},
      {"mma, e4m3x2 to f16x2", words + sums, each(matrix + unpack), any_word + "+" + any_sum},
      {"mma, f32 multiply-add", reals + sums, each(matrix + multiply), any_real + "+" + any_sum},
      {"mma, integer add", words + sums, each(matrix + add), any_word + "+" + any_sum},
      {"mma, shared load", words + ready + sums, each(matrix + load), any_word + "+" + any_sum},
  };
  for (Operation& operation : all) {
    operation.warps = 16;
    operation.repeats = 4;
    operation.ops = 4;
  }
  return all;
}

std::string source_of(const Operation& operation) {
  std::string rounds;
  for (int i = 0; i < operation.ops; ++i) rounds.append(operation.body).append("\n");
  return fmt::format(R"(extern "C" __global__ void k(unsigned* out, const unsigned* in, int n) {{
  extern __shared__ __align__(128) unsigned shared[];
  const int t = threadIdx.x;
  {}
#pragma unroll 1
  for (int i = 0; i < n; ++i) {{
{}  }}
  if (n != 0) out[t] = {};
}}
)",
                     operation.setup, rounds, operation.result);
}

/// Runs one kernel, measured or predicted.
class Bench {
 public:
  explicit Bench(const std::string& device)
      : device_(open_device(device)), compiler_(open_nvrtc()) {
    out_ = device_->allocate({"out", std::size_t{4} << 20, true});
    device_->fill(out_, std::byte{0});
  }

  [[nodiscard]] const DeviceInfo& info() const { return device_->info(); }

  KernelId load(const std::string& source) {
    CompileOutcome outcome = outcome_of(
        compiler_->compile({{"k.cu", source, {}}, {"k"}, device_->info().arch, {"-lineinfo"}}));
    if (const auto* rejection = std::get_if<Rejection>(&outcome))
      throw NvrtcError(rejection->reason + "\n" + rejection->detail);
    const auto& compiled = std::get<Compiled>(outcome);
    auto loaded = device_->load({compiled.ptx, compiled.cubin, {"k"}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) throw CudaError(fault->reason);
    return std::get<KernelId>(loaded);
  }

  /// A buffer of `words` in which each names the next of a chain through all of them.
  BufferId chain(std::size_t words) {
    constexpr std::size_t kStride = 33 * 64;  // another sector, another page before long
    std::vector<std::uint32_t> next(words);
    for (std::size_t i = 0; i < words; ++i)
      next[i] =
          static_cast<std::uint32_t>(words < kStride ? (i + 1) % words : (i + kStride) % words);
    const BufferId buffer = device_->allocate({"in", words * sizeof(std::uint32_t), true});
    device_->upload(buffer, std::as_bytes(std::span(next)));
    return buffer;
  }

  void release(BufferId buffer) { device_->release(buffer); }
  void unload(KernelId kernel) { device_->unload(kernel); }

  /// Microseconds of a launch, one of many in a graph, which take the buffers `in` in turn.
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
      return value_of(device_->predict_us(kernel, plan, sets.front()));
    auto made = device_->make_graph(kernel, plan, sets, launches);
    if (const auto* fault = std::get_if<Fault>(&made)) throw CudaError(fault->reason);
    const GraphId graph = std::get<GraphId>(made);
    std::vector<double> samples;
    for (int i = 0; i <= kSamples; ++i) {
      const double value = value_of(device_->run_graph(graph)) / launches;
      if (i > 0) samples.push_back(value);
    }
    device_->release_graph(graph);
    std::ranges::sort(samples);
    return quantile(samples, 0.5);
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;
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
  std::fflush(stdout);
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
        std::fflush(stdout);
      }
    }
  }
  bench.release(in);
  bench.unload(kernel);
}

/// Code without loops: what fetching it costs.
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
    std::fflush(stdout);
    bench.unload(kernel);
  }
  bench.release(in);
}

/// Reads (or writes) `bytes` n times with all threads of the grid.
std::string stream_source(std::size_t bytes, bool writes) {
  return fmt::format(R"(extern "C" __global__ void k(unsigned* out, unsigned* in, int n) {{
  unsigned seen = 0;
  for (int round = 0; round < n; ++round) {{
#pragma unroll 8
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < {}u; i += gridDim.x * blockDim.x) {{
      uint4* at = reinterpret_cast<uint4*>(in) + i;
      {}
    }}
  }}
  if (seen == 12345) out[threadIdx.x] = seen;
}}
)",
                     bytes / 16,
                     writes ? "*at = make_uint4(i, i, i, i);"
                            : "uint4 v; asm volatile(\"ld.global.cg.v4.u32 {%0, %1, %2, %3}, "
                              "[%4];\" : \"=r\"(v.x), \"=r\"(v.y), \"=r\"(v.z), "
                              "\"=r\"(v.w) : \"l\"(at)); seen ^= v.x ^ v.y ^ v.z ^ v.w;");
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
        std::fflush(stdout);
      }
      bench.unload(kernel);
      bench.release(in);
    }
  }
}

/// Launches whose CTAs read a KiB each of a buffer of 8 MiB, which one changes from launch to
/// launch.
void print_first_reads(Bench& bench) {
  const auto sms = static_cast<unsigned>(bench.info().sm_count);
  const KernelId kernel = bench.load(stream_source(std::size_t{1024} * 4 * sms, false));
  std::vector<BufferId> in;
  for (const std::size_t buffers : {1U, 4U, 32U}) {
    while (in.size() < buffers) in.push_back(bench.chain(std::size_t{2} << 20));
    std::printf("%3zu buffers in turn: read not at all %8.3f us, once %8.3f us, twice %8.3f us\n",
                buffers, bench.us(kernel, sms, 256, 0, in, 0), bench.us(kernel, sms, 256, 0, in, 1),
                bench.us(kernel, sms, 256, 0, in, 2));
    std::fflush(stdout);
  }
  for (const BufferId buffer : in) bench.release(buffer);
  bench.unload(kernel);
}

void run(const std::string& device) {
  Bench bench(device);
  const bool measured = bench.info().time_kind == TimeKind::kMeasured;
  std::printf("%s, %.0f MHz, %s\n\nclocks from one operation to the next that needs its result\n",
              bench.info().name.c_str(), bench.info().clock_mhz,
              measured ? "measured" : "PREDICTED");
  for (const Operation& operation : chains()) print_operation(bench, operation);
  std::printf("\nclocks that one operation of a warp occupies a sub-core\n");
  for (const Operation& operation : streams()) print_operation(bench, operation);
  std::printf("\nlaunches of a kernel that does nothing\n");
  print_launches(bench);
  if (measured) {  // too much to interpret
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
      "What single operations, launches and code cost on a device: measured on a card, predicted "
      "on "
      "a virtual one. The figures of predicted times come from here.");
  std::string device = "cuda:0";
  app.add_option("--device", device, "cuda:N or virtual:NAME")->capture_default_str();
  return evo::tool_main("op-costs", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::run(device);
    return evo::ExitCode::kGreen;
  });
}
