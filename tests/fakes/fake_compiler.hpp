#pragma once

#include <chrono>

#include "engine/compile/compiler.hpp"

namespace evo::fake {

/// A compiler that reads no source: its PTX is the list of the macros it was given (fake_program),
/// without those that begin with UNUSED. The macro BUG chooses what else happens:
///   does_not_compile    the build is rejected, with a log;
///   crashes_compiler    the process aborts; aborts_below_2_gib: with less address space;
///   hangs_compiler      it never returns;
///   compiler_is_killed  its process gets SIGTERM; compiler_is_killed_once: SIGKILL, the first
///   time; fails               it reports an error of its own; fails_once: the first time;
///   runs_out_of_memory  it says so; compiler_eats_memory: it does;
///   says_nothing        a rejection without a reason; says_nul: with bytes that are no text;
///   too_many_registers  the kernel uses 200;
///   spills              it spills 64 bytes.
/// Other values concern the device. Registers are 32 + REGISTERS, static shared memory SHARED.
class FakeCompiler final : public Compiler {
 public:
  /// `delay`: duration of each compilation.
  explicit FakeCompiler(std::chrono::milliseconds delay = {}) : delay_(delay) {}

  [[nodiscard]] std::string version() const override { return "fake 1.0"; }
  [[nodiscard]] CompileAnswer compile(const CompileRequest& request) override;

 private:
  std::chrono::milliseconds delay_;
};

}  // namespace evo::fake
