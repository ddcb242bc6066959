#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"
#include "tests/fakes/fake_device.hpp"

namespace evo::fake {

/// Random faults of a worker that do not come from a kernel: the worker dies, hangs, is slow, or
/// sends invalid bytes. The environment variable EVO_FAKE_FAULTS="COMPILE LAUNCH SEED" sets the
/// number of faults per million compilations and per million launches, and the seed. If
/// EVO_FAKE_FAULTS is unset, there are no faults.
class Faults {
 public:
  [[nodiscard]] static Faults from_environment();

  [[nodiscard]] std::unique_ptr<Compiler> around(std::unique_ptr<Compiler> compiler) const;
  /// The value for FakeDeviceOptions::link: the host function of a planted kernel, with random
  /// faults.
  [[nodiscard]] std::variant<Kernel, Fault> link(const Program& program) const;

 private:
  int compile_ = 0;
  int launch_ = 0;
  unsigned seed_ = 0;
};

}  // namespace evo::fake
