#include "engine/core/file_reader.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/temporary_folder.hpp"

namespace evo {
namespace {

/// A text of `bytes` bytes with a period of 251 bytes. This period does not divide the size of the
/// parts that FileReader reads, so that parts in the wrong order give another text.
std::string text_of(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i % 251);
  return text;
}

TEST(FileReader, PartsMakeUpTheFile) {
  const TemporaryFolder folder("file-reader-test-");
  const std::filesystem::path file = folder.path() / "a";
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096},
                                  std::size_t{1} << 20, (std::size_t{5} << 20) + 7}) {
    const std::string text = text_of(bytes);
    write_file(file, text);
    FileReader reader(file);
    EXPECT_EQ(reader.size(), bytes);
    std::string read;
    for (std::string_view part = reader.next(); !part.empty(); part = reader.next()) {
      EXPECT_LE(part.size(), std::size_t{1} << 20);
      read += part;
    }
    EXPECT_EQ(read == text, true) << bytes;
    EXPECT_TRUE(reader.next().empty());
    EXPECT_EQ(ContentHash().add_file(file).add("x").hex(), ContentHash().add(text).add("x").hex());
  }
}

TEST(FileReader, AFileWithoutAReportedSizeIsReadToItsEnd) {
  EXPECT_EQ(FileReader("/proc/self/status").size(), 0U);
  EXPECT_NE(read_text_file("/proc/self/status").find("Name:"), std::string::npos);
  EXPECT_THROW((void)ContentHash().add_file("/proc/self/status"), InputError);
}

TEST(FileReader, WhatIsNoReadableFileIsRefused) {
  EXPECT_THROW(FileReader("/tmp"), InputError);
  EXPECT_THROW(FileReader("/dev/zero"), InputError);
  EXPECT_THROW(FileReader("/nonexistent"), InputError);
}

}  // namespace
}  // namespace evo
