#pragma once

#include "tests/fakes/fake_device.hpp"

namespace evo::fake {

/// Returns the host function of a planted kernel: y[i] = 2 x[i] + 1, with the defect that its macro
/// BUG names. tests/planted/kernel_templates/planted/planted.cu has half of these defects as CUDA
/// code. The others include `crashes`, which ends the process, and `lies_about_time`, with which a
/// launch takes almost no time. The arguments are x and y (f32) and their length (i32).
[[nodiscard]] std::variant<Kernel, Fault> link_planted(const Program& program);

/// The made-up time of a planted kernel in µs, equal in every call with equal arguments. Kernels
/// with THREADS 128 and ITEMS 2 are fastest; the times of samples scatter by ±0.3 %. With the
/// defect `lies_about_time`, the time is always 1e-9 µs.
[[nodiscard]] double planted_time_us(const Program& program, std::int64_t sample);

}  // namespace evo::fake
