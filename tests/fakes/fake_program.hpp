#pragma once

#include <map>
#include <string>
#include <string_view>

namespace evo::fake {

/// The fake compiler's output: the kernel name and the macros of the compilation, in place of PTX
/// in a KernelImage.
struct Program {
  std::string entry;
  std::map<std::string, std::string> defines;

  /// The name of a macro's value in lower case: "out_of_bounds" for -DBUG_OUT_OF_BOUNDS=1 -DBUG=1.
  /// Values without a name are returned unchanged; "" if the macro is undefined.
  [[nodiscard]] std::string name_of(const std::string& macro) const;
  /// The value of a macro as a number; `otherwise` if the macro is not defined.
  [[nodiscard]] double number(const std::string& macro, double otherwise) const;
};

[[nodiscard]] std::string to_ptx(const Program& program);
/// The inverse of to_ptx(). Throws std::invalid_argument for other text.
[[nodiscard]] Program from_ptx(const std::string& ptx);

/// Returns true only once over all processes with the same EVO_FAKE_STATE, and then creates the
/// file $EVO_FAKE_STATE.`what`. Returns false without this environment variable.
[[nodiscard]] bool is_first_time(const std::string& what);
/// Whether is_first_time(what) has returned true in some process.
[[nodiscard]] bool was_first_time(const std::string& what);

}  // namespace evo::fake
