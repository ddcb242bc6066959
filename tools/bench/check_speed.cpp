// check-speed: measures how long it takes to check one output on the host and on the device.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/device/open_device.hpp"
#include "engine/gate/correctness/buffer_work.hpp"
#include "engine/gate/correctness/check_kernels.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

struct Arguments {
  std::string device = "cuda:0";
  std::string dtype = "f32";
  std::vector<std::size_t> elements = {1'048'576, 16'777'216};
  std::size_t row = 0;
  int repeats = 5;
};

KernelImage compiled_kernels(const std::string& arch) {
  CompileOutcome outcome = outcome_of(open_nvrtc()->compile(
      {{"check_kernels.cu", check_kernels_source(), {}}, {kCheckKernelsEntry}, arch, {}}));
  if (const auto* rejection = std::get_if<Rejection>(&outcome)) {
    throw NvrtcError(rejection->reason + "\n" + rejection->detail);
  }
  const auto& kernels = std::get<Compiled>(outcome);
  return {kernels.ptx, kernels.cubin, {kCheckKernelsEntry}};
}

/// The shortest time in ms of `repeats` executions of `work`.
double best_ms(int repeats, const std::function<void()>& work) {
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    best = i == 0 ? ms : std::min(best, ms);
  }
  return best;
}

struct Costs {
  double compare_ms = 0;
  double difference_ms = 0;
  double guard_ms = 0;
};

/// The shortest times of the three checks of one output: comparison with the reference, search for
/// the first byte that differs from a copy, guard zones. Waits for the device after each check, so
/// that each is timed separately.
Costs costs_of(BufferWork& work, const std::vector<std::byte>& content, Dtype dtype,
               const Arguments& arguments) {
  Device& device = work.device();
  const BufferId output = device.memory().allocate({"output", content.size(), true});
  device.memory().upload(output, content);
  const KeptId expected = work.kept().reserve("expected", content.size());
  work.kept().keep(expected, content);
  const auto finish = [&] {
    if (const auto fault = work.finish()) throw CudaError(fault->reason);
  };
  Costs costs;
  costs.compare_ms = best_ms(arguments.repeats, [&] {
    work.begin();
    (void)work.compare(output, expected, dtype, 0, arguments.row);
    finish();
  });
  costs.difference_ms = best_ms(arguments.repeats, [&] {
    work.begin();
    (void)work.first_difference(output, expected);
    finish();
  });
  costs.guard_ms = best_ms(arguments.repeats, [&] {
    work.begin();
    (void)work.guard_zones(output);
    finish();
  });
  device.memory().release(output);
  return costs;
}

void run(const Arguments& arguments) {
  const auto device = open_device(arguments.device);
  const Dtype dtype = dtype_from_string(arguments.dtype);
  const auto host = make_host_work(*device);
  const auto by_kernels = make_device_work(*device, compiled_kernels(device->info().arch));
  std::printf("%s, %s, rows of %zu elements; milliseconds, best of %d repetitions\n",
              device->info().name.c_str(), arguments.dtype.c_str(), arguments.row,
              arguments.repeats);
  std::printf("%12s  %14s  %14s  %14s  %14s  %14s  %14s\n", "elements", "compare host",
              "compare device", "differs host", "differs device", "guards host", "guards device");
  for (const std::size_t elements : arguments.elements) {
    Random random(elements);
    std::vector<std::byte> content(elements * size_of(dtype));
    for (std::size_t i = 0; i < elements; ++i) {
      encode(dtype, 10 * random.uniform(), content.data() + i * size_of(dtype));
    }
    const Costs slow = costs_of(*host, content, dtype, arguments);
    const Costs fast = costs_of(*by_kernels, content, dtype, arguments);
    std::printf("%12zu  %14.3f  %14.3f  %14.3f  %14.3f  %14.3f  %14.3f\n", elements,
                slow.compare_ms, fast.compare_ms, slow.difference_ms, fast.difference_ms,
                slow.guard_ms, fast.guard_ms);
  }
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app(
      "Measures how long three checks take, on the host and by kernels on the device:\n"
      "to compare an output with the reference, "
      "to find the first byte that differs from a copy, to check guard zones.");
  evo::Arguments arguments;
  app.add_option("--device", arguments.device, "cuda:N or virtual:NAME")->capture_default_str();
  app.add_option("--dtype", arguments.dtype, "type of the elements")->capture_default_str();
  app.add_option("--elements", arguments.elements,
                 "sizes of an output, in elements; each size is timed separately")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 4000000000));
  app.add_option("--row", arguments.row, "elements of a row; 0: no rows")
      ->capture_default_str()
      ->transform(evo::whole_number(0, 4000000000));
  app.add_option("--repeats", arguments.repeats,
                 "repetitions of each check; the shortest time counts")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1000000));
  return evo::tool_main("check-speed", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::run(arguments);
    return evo::ExitCode::kGreen;
  });
}
