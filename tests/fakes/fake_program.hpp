#pragma once

#include <map>
#include <string>
#include <string_view>

namespace evo::fake {

/// The fake compiler's output: the entry and the macros of the compilation. It takes the place of
/// PTX in a KernelImage.
struct Program {
  std::string entry;
  std::map<std::string, std::string> defines;

  /// The value name of a macro in lower case: "out_of_bounds" for -DBUG_OUT_OF_BOUNDS=1 -DBUG=1.
  /// Other values are returned unchanged; "" if undefined.
  [[nodiscard]] std::string name_of(const std::string& macro) const;
  /// The value of a macro as a number; `otherwise` if it is not defined.
  [[nodiscard]] double number(const std::string& macro, double otherwise) const;
};

[[nodiscard]] std::string to_ptx(const Program& program);
/// The inverse. Throws std::invalid_argument for other text.
[[nodiscard]] Program from_ptx(const std::string& ptx);

/// True once over all processes with the environment variable EVO_FAKE_STATE: it then creates the
/// file of that name with `.what` appended. False without the variable.
[[nodiscard]] bool is_first_time(const std::string& what);
/// Whether that has happened.
[[nodiscard]] bool was_first_time(const std::string& what);

}  // namespace evo::fake
