#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// A call of a system function of the device.
struct SystemCallOperands {
  std::uint32_t call = 0;  ///< index into Program::system_calls
  template <typename F>
  void each_register(F&& /*visit*/) {}
};
/// vprintf.
void exec_print(Warp& warp, const Instr& in);
/// __assertfail.
void exec_assert_fail(Warp& warp, const Instr& in);

}  // namespace evo::ptx
