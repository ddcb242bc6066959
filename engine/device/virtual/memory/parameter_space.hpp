#pragma once

#include <cstdint>

namespace evo::ptx {

/// Where the kernel's parameters begin in the parameter space, so that no address of a parameter of
/// a call, which is in local memory, is taken for one; and the window of that space in the generic
/// address space.
inline constexpr std::uint64_t kKernelParameters = 1ULL << 31;
inline constexpr std::uint64_t kParameterWindow = 0x300'0000'0000ULL;

}  // namespace evo::ptx
