#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"
#include "tests/fakes/fake_device.hpp"

namespace evo::fake {

/// Random faults of a worker that are not the kernel's fault: the worker dies, hangs, is slow, or
/// sends invalid bytes. EVO_FAKE_FAULTS="COMPILE LAUNCH SEED" gives the number of faults per
/// million compilations and per million launches. Without the variable there are no faults.
class Faults {
 public:
  [[nodiscard]] static Faults from_environment();

  [[nodiscard]] std::unique_ptr<Compiler> around(std::unique_ptr<Compiler> compiler) const;
  /// A function for FakeDeviceOptions::link.
  [[nodiscard]] std::variant<Kernel, Fault> link(const Program& program) const;

 private:
  int compile_ = 0;
  int launch_ = 0;
  unsigned seed_ = 0;
};

}  // namespace evo::fake
