#pragma once

#include <map>
#include <string>

namespace evo::fake {

/// The output of the fake compiler: the kernel's name and the macros of the compilation. A
/// KernelImage from the fake compiler contains a Program, as text, in place of PTX.
struct Program {
  std::string entry;
  std::map<std::string, std::string> defines;

  /// The name that another macro gives to the number in `macro`, in lower case: "out_of_bounds" for
  /// -DBUG_OUT_OF_BOUNDS=1 -DBUG=1. Returns the value itself if it is not a number, and "" if the
  /// number has no name or `macro` is undefined.
  [[nodiscard]] std::string name_of(const std::string& macro) const;
  /// The value of a macro as a number; `otherwise` if the macro is not defined.
  [[nodiscard]] double number(const std::string& macro, double otherwise) const;
};

[[nodiscard]] std::string to_ptx(const Program& program);
/// The inverse of to_ptx(). Throws std::invalid_argument for text that to_ptx() cannot have
/// written.
[[nodiscard]] Program from_ptx(const std::string& ptx);

/// Returns true for the first call with `what` in all processes that have the same value of the
/// environment variable EVO_FAKE_STATE; this call creates the file $EVO_FAKE_STATE.`what`. If
/// EVO_FAKE_STATE is unset, returns false.
[[nodiscard]] bool is_first_time(const std::string& what);
/// Whether is_first_time(what) has returned true in any process with the same EVO_FAKE_STATE.
[[nodiscard]] bool was_first_time(const std::string& what);

}  // namespace evo::fake
