#pragma once

#include <chrono>

#include "engine/compile/compiler.hpp"

namespace evo::fake {

/// A compiler that does not read the source. In place of PTX, the fake compiler returns the list of
/// the macros in the request (fake_program.hpp), without macros whose names begin with UNUSED. The
/// macro BUG selects a failure:
///   1. does_not_compile: the compiler rejects the source, with a log.
///   2. crashes_compiler: the process aborts. aborts_for_memory: the process prints that it is out
///      of memory, and aborts. aborts_below_2_gib: the process aborts if the limit of its address
///      space is below 2 GiB.
///   3. hangs_compiler: the compilation never returns. gets_a_quarter_of_a_processor: the
///      compilation takes 3 s, but computes for only a quarter of this time.
///   4. compiler_is_killed: the process gets SIGTERM. compiler_is_killed_once: the process gets
///      SIGKILL, but only once.
///   5. fails: the compiler reports an internal error. fails_once: the compiler does so only once.
///   6. runs_out_of_memory: the compiler reports that it has no memory left. compiler_eats_memory:
///      the compiler allocates up to 4 GiB.
///   7. says_nothing: the compiler rejects the source without a reason. says_nul: the reason has
///      bytes that are no text.
///   8. too_many_registers: the kernel uses 200 registers.
///   9. spills: the kernel spills 64 bytes.
/// Other values of BUG select a defect of the compiled kernel (planted_kernels.hpp). A compiled
/// kernel has 32 + REGISTERS registers and SHARED bytes of static shared memory, where REGISTERS
/// and SHARED are macros of the request.
class FakeCompiler final : public Compiler {
 public:
  /// `delay`: the duration of each compilation.
  explicit FakeCompiler(std::chrono::milliseconds delay = {}) : delay_(delay) {}

  [[nodiscard]] std::string version() const override { return "fake 1.0"; }
  [[nodiscard]] CompileAnswer compile(const CompileRequest& request) override;

 private:
  std::chrono::milliseconds delay_;
};

}  // namespace evo::fake
