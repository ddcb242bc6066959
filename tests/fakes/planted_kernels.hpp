#pragma once

#include "tests/fakes/fake_device.hpp"

namespace evo::fake {

/// The kernels of tests/planted as host functions: y[i] = 2 x[i] + 1, with the defect named by its
/// macro BUG (tests/planted/kernel_templates/planted/planted.cu describes them; `crashes` ends the
/// process and `lies_about_time` takes no time). Arguments: x, y (f32), their length (i32).
[[nodiscard]] std::variant<Kernel, Fault> link_planted(const Program& program);

/// The made-up times of the planted kernels, equal in every call: THREADS 128 and ITEMS 2 are
/// fastest; times scatter by ±0.3 %.
[[nodiscard]] double planted_time_us(const Program& program, std::int64_t sample);

}  // namespace evo::fake
