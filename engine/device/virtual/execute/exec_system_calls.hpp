#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// A call of a device function that the CUDA driver provides, such as vprintf.
struct SystemCallOperands {
  std::uint32_t call = 0;  ///< index into Program::system_calls
  auto register_fields() { return std::tie(); }
};
/// Handler of vprintf.
void exec_print(Warp& warp, const Instr& in);
/// Handler of __assertfail.
void exec_assert_fail(Warp& warp, const Instr& in);

}  // namespace evo::ptx
