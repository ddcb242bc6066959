// A worker program that needs neither GPU nor NVRTC. The fake worker speaks the protocol of the
// real worker, and uses the fake compiler and the fake device with the planted kernels. If the
// environment variable EVO_WORKER names this program, the real evo-tune and evo-judge start it, and
// then run fast and reproducibly. Further environment variables: EVO_FAKE_COMPILE_MS is the
// duration of each compilation, EVO_FAKE_FAULTS causes random faults (faults.hpp), and
// EVO_FAKE_UUID is the UUID of the device. EVO_FAKE_GPU is a list of words: with "throttled" the
// GPU reports low clocks, with "shared" another process, and with "counter" an energy that grows at
// 100 W.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/core/error.hpp"
#include "engine/worker/profile_request.hpp"
#include "engine/worker/server.hpp"
#include "tests/fakes/fake_compiler.hpp"
#include "tests/fakes/fake_monitor.hpp"
#include "tests/fakes/faults.hpp"
#include "tests/fakes/planted_kernels.hpp"

namespace {

std::unique_ptr<evo::Compiler> open_compiler() {
  const char* delay = std::getenv("EVO_FAKE_COMPILE_MS");
  return evo::fake::Faults::from_environment().around(std::make_unique<evo::fake::FakeCompiler>(
      std::chrono::milliseconds(delay == nullptr ? 0 : std::stoi(delay))));
}

/// The fake monitor of the GPU, as EVO_FAKE_GPU describes it; null if EVO_FAKE_GPU is unset.
evo::fake::FakeMonitor* fake_monitor() {
  static evo::fake::FakeMonitor monitor;
  const char* words = std::getenv("EVO_FAKE_GPU");
  if (words == nullptr) return nullptr;
  const std::string_view text = words;
  const bool throttled = text.find("throttled") != std::string_view::npos;
  monitor.on_pace = [throttled](int) {
    if (!throttled) return evo::GpuPace{1980, {}};
    return evo::GpuPace{600, {evo::Slowdown::kHardwareThermal}};
  };
  monitor.state = {2619, 41, 312};
  if (text.find("shared") != std::string_view::npos) monitor.others = {"4711 (python3)"};
  if (text.find("counter") != std::string_view::npos) {
    monitor.on_energy = [] {
      const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
      return std::floor(now.count() * 50) * 2000;  // changes every 20 ms
    };
  }
  return &monitor;
}

/// Returns the host function of a planted kernel. On a device that predicts times, the function
/// reports a fault for defects that a GPU does not notice.
std::variant<evo::fake::Kernel, evo::Fault> link(const evo::fake::Program& program,
                                                 evo::TimeKind kind) {
  const std::string bug = program.name_of("BUG");
  const bool is_lucky = bug == "reads_beyond" || bug == "races";
  if (kind != evo::TimeKind::kPredicted || !is_lucky) {
    return evo::fake::Faults::from_environment().link(program);
  }
  return [bug](const evo::fake::Launch&) -> std::optional<evo::Fault> {
    return evo::Fault{.reason = "planted: " + bug};
  };
}

std::unique_ptr<evo::Device> open_device(const std::string& id) {
  for (const evo::TimeKind kind : {evo::TimeKind::kMeasured, evo::TimeKind::kPredicted}) {
    evo::DeviceInfo info = evo::fake::fake_info(kind);
    const bool predicts = kind == evo::TimeKind::kPredicted && id.starts_with("virtual:");
    if (info.id != id && !predicts) continue;
    evo::fake::FakeMonitor* monitor = fake_monitor();
    info.counts_energy = monitor != nullptr && monitor->on_energy;
    const auto link_for_kind = [kind](const evo::fake::Program& program) {
      return link(program, kind);
    };
    auto device = std::make_unique<evo::fake::FakeDevice>(
        evo::fake::FakeDeviceOptions{info, link_for_kind, evo::fake::planted_time_us});
    device->set_monitor(monitor);
    return device;
  }
  throw evo::InputError("unknown device '" + id +
                        "'; allowed: fake:measured, fake:predicted, virtual:NAME");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "compile") return evo::serve_compiler(open_compiler, false);
  if (role == "device" && argc >= 3) {
    return evo::serve_device([&] { return open_device(argv[2]); });
  }
  if (role == "profile" && argc == 4) {
    return evo::launch_profiled(argv[3], [&] { return open_device(argv[2]); });
  }
  std::fputs("usage: fake-worker compile | fake-worker device ID | fake-worker profile ID FILE\n",
             stderr);
  return static_cast<int>(evo::ExitCode::kBadInput);
}
