#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evo {

/// The secret that a run and its workers share: 32 bytes as 64 hexadecimal digits. It travels in
/// files of mode 600, environments and pipes, never on a command line, which every user of a
/// machine can read.
[[nodiscard]] std::string make_run_key();

/// Throws InputError for anything but 64 hexadecimal digits, without repeating it. `where`: for
/// the message.
[[nodiscard]] std::vector<std::uint8_t> key_bytes(const std::string& text,
                                                  const std::string& where);

inline constexpr const char* kKeyVariable = "EVO_WORKER_KEY";
inline constexpr const char* kKeyFileVariable = "EVO_WORKER_KEY_FILE";

/// The key from the environment: from one variable, or from the file that a second variable names
/// and that only its owner may read. Throws InputError if there is no valid key.
[[nodiscard]] std::string key_of_environment();
/// The first line of standard input.
[[nodiscard]] std::string key_of_standard_input();

/// Writes a file of mode 600 that must not exist yet. Throws InputError.
void write_key_file(const std::string& name, const std::string& key);

}  // namespace evo
