#pragma once

#include <cstdint>

namespace evo::ptx {

/// The address of the kernel's parameters in the parameter space, which lies above the parameters
/// of calls, since these are in local memory; and the window of the parameter space in the generic
/// address space.
inline constexpr std::uint64_t kKernelParameters = 1ULL << 31;
inline constexpr std::uint64_t kParameterWindow = 0x300'0000'0000ULL;

}  // namespace evo::ptx
