#pragma once

#include <cstdint>

namespace evo::ptx {

/// The start of the kernel's parameters in the parameter space, chosen so that they differ from
/// parameters of calls, which are in local memory; and the window of that space in the generic
/// address space.
inline constexpr std::uint64_t kKernelParameters = 1ULL << 31;
inline constexpr std::uint64_t kParameterWindow = 0x300'0000'0000ULL;

}  // namespace evo::ptx
