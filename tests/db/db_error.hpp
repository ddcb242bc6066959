#pragma once

#include <string>

#include "engine/core/error.hpp"

namespace evo::sample {

/// The message of the DbError that `body` throws, or "no DbError" if it throws none.
template <typename Body>
[[nodiscard]] std::string db_error(Body&& body) {
  try {
    body();
  } catch (const DbError& error) {
    return error.what();
  }
  return "no DbError";
}

}  // namespace evo::sample
