#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace evo {

/// Accepts whole numbers from `low` to `high` on the command line. An error message names the value
/// and the allowed values; CLI11 adds the option's name. Signs, exponents and other bases are
/// errors.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);

/// Accepts any seed.
[[nodiscard]] inline CLI::Validator seed_number() {
  return whole_number(0, std::numeric_limits<std::uint64_t>::max());
}

/// Accepts the number of a row in the database, such as a run or a candidate.
[[nodiscard]] inline CLI::Validator row_number() {
  return whole_number(1, std::numeric_limits<std::int64_t>::max());
}

/// Accepts a finite number from `low` to `high`. "nan" is an error.
[[nodiscard]] CLI::Validator real_number(double low, double high);

/// Accepts a time limit in seconds: more than 0, at most a year. "nan" and "inf" are errors.
[[nodiscard]] CLI::Validator seconds_number();

}  // namespace evo
