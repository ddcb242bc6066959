#include "engine/core/missing_file.hpp"

#include <gtest/gtest.h>

#include "engine/core/json_reader.hpp"
#include "engine/core/temporary_folder.hpp"

namespace evo {
namespace {

TEST(MissingFileHint, NamesTheNearestElseTheFolderElseFilesOfTheSameEnding) {
  const TemporaryFolder folder("evo-missing-file");
  const std::filesystem::path place = folder.path();
  EXPECT_EQ(missing_file_hint(place / "any.json"), "");
  for (const char* name : {"recorded.json", "a.json", "b.json", "c.db", ".hidden.json"})
    write_file(place / name, "");
  EXPECT_EQ(missing_file_hint(place / "recoded.json"),
            "; did you mean '" + (place / "recorded.json").string() + "'?");
  EXPECT_EQ(missing_file_hint(place / "nothing-like-it.json"),
            "; there are: a.json, b.json, recorded.json");
  EXPECT_EQ(missing_file_hint(place / "nothing-like-it.txt"), "");
  EXPECT_EQ(missing_file_hint(place / "absent/a.json"),
            "; there is no folder '" + (place / "absent").string() + "'");
  EXPECT_EQ(missing_file_hint(place / "a.json"), "");
  for (const char* name : {"d.json", "e.json", "f.json"}) write_file(place / name, "");
  EXPECT_EQ(missing_file_hint(place / "nothing-like-it.json"),
            "; there are: a.json, b.json, d.json, e.json, f.json, …");
}

}  // namespace
}  // namespace evo
