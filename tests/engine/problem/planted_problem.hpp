#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The folder of the problem "planted", which lies below tests/planted.
inline std::filesystem::path planted_folder() {
  return std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted/kernel_templates/planted";
}

/// The problem file of "planted" as JSON, which tests may change.
inline Json planted() { return read_json_file(planted_folder() / "problem.json"); }

/// The error for the problem file of "planted" after `change`; "" if the file is valid.
inline std::string complaint(const std::function<void(Json&)>& change) {
  Json json = planted();
  change(json);
  try {
    (void)Problem::parse(json.dump(), planted_folder());
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("problem.json"));
    return error.what();
  }
  return {};
}

}  // namespace evo
