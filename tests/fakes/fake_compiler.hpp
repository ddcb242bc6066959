#pragma once

#include <chrono>

#include "engine/compile/compiler.hpp"

namespace evo::fake {

/// A compiler that does not read the source: its PTX is the list of the macros in the request
/// (fake_program), without those that begin with UNUSED. The macro BUG selects a failure:
///   1. does_not_compile: the build is rejected, with a log.
///   2. crashes_compiler: the process aborts; aborts_below_2_gib: if the address space is smaller.
///   3. hangs_compiler: it never returns.
///   4. compiler_is_killed: its process gets SIGTERM; compiler_is_killed_once: SIGKILL, only once.
///   5. fails: it reports an internal error; fails_once: only once.
///   6. runs_out_of_memory: it reports that; compiler_eats_memory: it really does.
///   7. says_nothing: a rejection without a reason; says_nul: with bytes that are no text.
///   8. too_many_registers: the kernel uses 200 registers.
///   9. spills: the kernel spills 64 bytes.
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
