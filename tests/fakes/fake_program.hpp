#pragma once

#include <map>
#include <string>
#include <string_view>

namespace evo::fake {

/// What the fake compiler makes of a source: its entry and the macros it was compiled with. It
/// travels as the PTX of a KernelImage.
struct Program {
  std::string entry;
  std::map<std::string, std::string> defines;

  /// The value of a macro with named values as its name in lower case: "out_of_bounds" for
  /// -DBUG_OUT_OF_BOUNDS=1 -DBUG=1. A value that is no number is taken as it is; "" without one.
  [[nodiscard]] std::string name_of(const std::string& macro) const;
  /// The value of a macro as a number. `otherwise` when it is not defined.
  [[nodiscard]] double number(const std::string& macro, double otherwise) const;
};

[[nodiscard]] std::string to_ptx(const Program& program);
/// The inverse. Throws std::invalid_argument for other text.
[[nodiscard]] Program from_ptx(const std::string& ptx);

/// True once for all processes that have the environment variable EVO_FAKE_STATE: the file of that
/// name with `.what` behind it is then made. False without it.
[[nodiscard]] bool is_first_time(const std::string& what);
/// Whether it has been.
[[nodiscard]] bool was_first_time(const std::string& what);

}  // namespace evo::fake
