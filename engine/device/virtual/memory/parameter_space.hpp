#pragma once

#include <cstdint>

namespace evo::ptx {

/// kKernelParameters: the address of the kernel's parameters in the parameter space, where lower
/// addresses are those of call parameters, which are stored in local memory. kParameterWindow: the
/// start of the parameter space in the generic address space.
inline constexpr std::uint64_t kKernelParameters = 1ULL << 31;
inline constexpr std::uint64_t kParameterWindow = 0x300'0000'0000ULL;

}  // namespace evo::ptx
