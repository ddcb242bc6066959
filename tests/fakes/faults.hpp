#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"
#include "tests/fakes/fake_device.hpp"

namespace evo::fake {

/// What goes wrong in a worker that is nobody's fault, at random: it dies, hangs, is slow, or sends
/// bytes that are no message. EVO_FAKE_FAULTS="COMPILE LAUNCH SEED": of a million compilations and
/// of a million launches, so many have one of these. Without the variable, none.
class Faults {
 public:
  [[nodiscard]] static Faults from_environment();

  [[nodiscard]] std::unique_ptr<Compiler> around(std::unique_ptr<Compiler> compiler) const;
  /// For FakeDeviceOptions::link.
  [[nodiscard]] std::variant<Kernel, Fault> link(const Program& program) const;

 private:
  int compile_ = 0;
  int launch_ = 0;
  unsigned seed_ = 0;
};

}  // namespace evo::fake
