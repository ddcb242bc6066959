#pragma once

#include <cstdint>

namespace evo::ptx {

/// The address of the kernel's parameters in the parameter space. Lower addresses belong to the
/// parameters of function calls, which are stored in local memory.
inline constexpr std::uint64_t kKernelParameters = 1ULL << 31;
/// The start of the parameter space in the generic address space.
inline constexpr std::uint64_t kParameterWindow = 0x300'0000'0000ULL;

}  // namespace evo::ptx
