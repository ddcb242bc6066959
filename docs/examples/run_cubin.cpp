// Launches a kernel that evo-export wrote, by its manifest alone, through the CUDA driver API.
//
//   run_cubin out/sdpa_fp8_wmma_h200_mission.json [launches]
//
// Exit codes: 0 it ran (and its result is right, for a problem this program can check), 1 the
// result is wrong, 2 bad usage or files, 3 no GPU that can run it.

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "exported_kernel.hpp"
#include "sdpa_fp8_check.hpp"

namespace {

/// A cubin runs on its architecture and on later minor versions of the same major one; an
/// architecture-specific one (sm_90a) on exactly its own.
bool can_run(const Manifest& manifest, int device) {
  if (manifest.arch_specific) return device == manifest.compute_capability;
  return device / 10 == manifest.compute_capability / 10 && device >= manifest.compute_capability;
}

/// Mean microseconds of a launch, back to back, by the host's clock: what a program sees, launch
/// overhead included. evo-tune's own times leave that out; see "timing" in the manifest.
double time_launches(const Gpu& gpu, ExportedKernel& kernel, int launches) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) kernel.launch();
  gpu.synchronize();
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / launches;
}

int run(const Manifest& manifest, int launches) {
  const Gpu gpu;
  if (!can_run(manifest, gpu.compute_capability())) {
    std::fprintf(stderr, "the cubin is for %s, the GPU is sm_%d\n",
                 manifest.json.at("arch").get<std::string>().c_str(), gpu.compute_capability());
    return 3;
  }
  std::mt19937_64 random(1);
  const std::vector<KernelArgument> arguments = manifest.make_arguments(random);
  ExportedKernel kernel(gpu, manifest, arguments);
  kernel.launch();
  gpu.synchronize();
  for (const Step& step : manifest.steps) std::printf("%s ran\n", step.entry.c_str());

  int status = 0;
  if (manifest.json.at("problem") == "sdpa_fp8") {
    const CheckReport report = check_sdpa_fp8(manifest, arguments, kernel.download("o"));
    std::printf("%zu rows compared: max abs error %.3g, relative L2 %.3g, row error %.3g: %s\n",
                report.rows, report.max_abs_error, report.relative_l2, report.max_row_error,
                report.passed ? "right" : "WRONG");
    status = report.passed ? 0 : 1;
  } else {
    std::printf("its result was not compared: this program only knows the problem sdpa_fp8\n");
  }
  std::printf("%.2f us a launch, back to back (host clock, %d launches)\n",
              time_launches(gpu, kernel, launches), launches);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: run_cubin MANIFEST.json [launches, default 1000]\n");
    return 2;
  }
  try {
    const int launches = argc == 3 ? std::stoi(argv[2]) : 1000;
    if (launches < 1) throw std::invalid_argument("launches must be at least 1");
    const Manifest manifest(argv[1]);
    try {
      return run(manifest, launches);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "run_cubin: %s\n", error.what());
      return 3;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_cubin: %s\n", error.what());
    return 2;
  }
}
