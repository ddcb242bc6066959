#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/timing/timing.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/gate/made_gates.hpp"
#include "tests/fakes/fake_device.hpp"

namespace evo {

/// A progress callback that ignores all reports.
inline const Progress kSilent = [](const std::string&) {};

/// A problem y = 2 x + 1 with two checked shapes, a fake device and inputs, for tests of the gates.
/// A kernel is a host function, selected by its name.
class GateFixture {
 public:
  /// `dtype`: the type of x and y. `deterministic`: whether the template declares that every launch
  /// on the same inputs gives the same result.
  explicit GateFixture(const std::string& dtype = "f32", bool deterministic = true,
                       TimeKind kind = TimeKind::kMeasured);
  GateFixture(const GateFixture&) = delete;
  GateFixture& operator=(const GateFixture&) = delete;

  /// Loads the host function `kernel` as the kernel `name`.
  [[nodiscard]] LoadedKernel load(const std::string& name, fake::Kernel kernel);

  /// Runs the correctness gate for a kernel on both shapes.
  [[nodiscard]] CorrectnessResult check(const LoadedKernel& kernel,
                                        const CorrectnessOptions& options = {},
                                        CheckKind check_kind = CheckKind::kFull,
                                        const EarlyStop& stop = {});

  [[nodiscard]] TimingGate timing(const TimingOptions& options = {}, std::size_t fresh_case = 5) {
    return {*work, problem, made->cases, made->judge, gpu, fresh_case, options};
  }

  /// The kernel that correctly computes y = 2 x + 1 in f32.
  static std::optional<Fault> honest(const fake::Launch& launch);

  sample::TemporaryFolder folder;
  std::map<std::string, fake::Kernel> kernels;
  /// The made-up time per launch in µs; 5 unless the test sets a function.
  std::function<double(const fake::Program&, std::int64_t)> time_us;
  std::unique_ptr<fake::FakeDevice> device;
  Problem problem;
  std::unique_ptr<BufferWork> work;
  std::unique_ptr<MadeGates> made;
  GpuWatch gpu{nullptr};
};

}  // namespace evo
