#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evo {

/// Makes the secret key that a run and its workers share: 32 random bytes as 64 hexadecimal digits.
/// Keys are passed in files of mode 600, environment variables, pipes and local sockets, never on a
/// command line, because every user of a machine can read command lines.
[[nodiscard]] std::string make_run_key();

/// Converts a key from hexadecimal digits to bytes. Throws InputError unless `text` is 64
/// hexadecimal digits; the message names `where`, but does not reveal `text`.
[[nodiscard]] std::vector<std::uint8_t> key_bytes(const std::string& text,
                                                  const std::string& where);

inline constexpr const char* kKeyVariable = "EVO_WORKER_KEY";
inline constexpr const char* kKeyFileVariable = "EVO_WORKER_KEY_FILE";

/// Returns the run's key from the environment variable EVO_WORKER_KEY, or else from the file that
/// EVO_WORKER_KEY_FILE names and that only its owner may read. Throws InputError if there is no
/// valid key.
[[nodiscard]] std::string key_of_environment();
/// Reads the key from the first line of standard input. Throws InputError if the line is not a key.
[[nodiscard]] std::string key_of_standard_input();

}  // namespace evo
