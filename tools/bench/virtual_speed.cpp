// virtual-speed: measures how fast the virtual GPU executes small PTX kernels while it looks for
// defects, such as races.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "engine/device/virtual/virtual_device.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

std::string module_of(const std::string& body) {
  std::string text =
      ".version 8.4\n.target sm_89\n.address_size 64\n.visible .entry k(.param .u64 out, .param "
      ".u32 n)\n{\n";
  text.append(R"(  .reg .pred %p<2>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<4>;
  .shared .align 16 .b8 tile[2048];
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r6, 1;
  cvt.rn.f32.u32 %f1, %r2;
  mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f3F000000; mov.f32 %f4, 0f3E800000;
  mov.u32 %r8, 1006648320; mov.u32 %r9, 939539456; mov.u32 %r10, 1006648320; mov.u32 %r11, 939539456; mov.u32 %r12, 1006648320; mov.u32 %r13, 939539456;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, tile;
  add.s32 %r5, %r4, %r3;
  st.shared.f32 [%r5], %f1;
  bar.sync 0;
LOOP:
)");
  text.append(body).append(R"(
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra LOOP;
  mad.lo.u32 %r6, %ctaid.x, %ntid.x, %r2;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}
)");
  return text;
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result.append(text);
  return result;
}

struct Result {
  std::uint64_t instructions = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< sum over all threads
};

/// Returns the launch with the least CPU time of three, because other processes may use the
/// machine. If a launch fails, prints the reason and returns a Result of zeros.
Result measure(const std::string& body, std::uint32_t ctas, std::uint32_t threads, int loops) {
  const auto device = open_virtual_device("virtual:l4");
  const BufferId out = device->memory().allocate({"out", std::size_t{4} * ctas * threads, true});
  const auto loaded = device->load({.ptx = module_of(body), .cubin = {}, .entries = {"k"}});
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    std::fprintf(stderr, "%s\n", fault->reason.c_str());
    return {};
  }
  const std::vector<KernelArgument> arguments = {out, ScalarArgument::of(loops)};
  Result best;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t before = std::clock();
    if (const auto fault = device->launch(std::get<KernelId>(loaded),
                                          {{ctas, 1, 1}, {threads, 1, 1}, 0}, arguments)) {
      std::fprintf(stderr, "%s\n", fault->reason.c_str());
      return {};
    }
    const VirtualStatistics& s = device->statistics();
    const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (best.seconds == 0 || cpu < best.cpu_seconds) best = {s.warp_instructions, s.seconds, cpu};
  }
  return best;
}

/// Prints the instructions per second, and the instructions per CPU second, a rate that other
/// processes hardly affect.
void print(const char* name, const Result& result) {
  const double millions = static_cast<double>(result.instructions) / 1e6;
  std::printf("%-30s %7.1f M warp instructions/s, %7.1f per CPU second (%.3f s)\n", name,
              millions / std::max(result.seconds, 1e-9),
              millions / std::max(result.cpu_seconds, 1e-9), result.seconds);
}

ExitCode measure_all() {
  print("f32 and integer arithmetic",
        measure(repeated("  fma.rn.f32 %f1, %f1, %f3, %f2;\n  add.f32 %f4, %f4, %f1;\n  "
                         "xor.b32 %r6, %r6, %r2;\n  mad.lo.u32 %r6, %r6, %r2, %r3;\n",
                         8),
                64, 256, 1000));
  print("shared loads, race checks on",
        measure(repeated("  ld.shared.f32 %f5, [%r5];\n  add.f32 %f1, %f1, %f5;\n", 8), 64, 256,
                500));
  const auto mma =
      measure(repeated("  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
                       "{%r8,%r9,%r10,%r11}, {%r12,%r13}, {%f1,%f2,%f3,%f4};\n",
                       8),
              16, 128, 200);
  print("mma.sync m16n8k16 f16", mma);
  const auto fp8 =
      measure(repeated("  mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1,%f2,%f3,%f4}, "
                       "{%r8,%r9,%r10,%r11}, {%r12,%r13}, {%f1,%f2,%f3,%f4};\n",
                       8),
              16, 128, 200);
  print("mma.sync m16n8k32 e4m3", fp8);
  return mma.instructions > 0 && fp8.instructions > 0 ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

}  // namespace
}  // namespace evo

int main() { return evo::tool_main("virtual-speed", evo::measure_all); }
