#include "engine/core/zstd_frames.hpp"

#include <gtest/gtest.h>

#include <random>

namespace evo {
namespace {

std::string random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// A text of `lines` similar lines, like PTX.
std::string text(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += "add.s32 %r" + std::to_string(i) + ", %r" + std::to_string(i * 7 % 100) + ", 1;\n";
  }
  return text;
}

TEST(ZstdFrames, GiveBackWhatTheyWereGiven) {
  ZstdFrames frames;
  for (const std::string& content :
       {std::string(), std::string("x"), std::string("\0\0", 2), text(5000),
        random_bytes(300'000, 1), std::string(10'000'000, '\0')}) {
    EXPECT_EQ(frames.unpack(frames.pack(content)), content);
  }
}

TEST(ZstdFrames, AreMuchSmallerThanCode) {
  ZstdFrames frames;
  const std::string content = text(5000);
  EXPECT_LT(frames.pack(content).size(), content.size() / 4);
}

TEST(ZstdFrames, OfTheSameContentAreTheSame) {
  ZstdFrames used;
  (void)used.pack(random_bytes(100'000, 2));
  EXPECT_EQ(used.pack(text(300)), ZstdFrames().pack(text(300)));
}

TEST(ZstdFrames, ThatAreCutOffOrContinuedAreRefused) {
  ZstdFrames frames;
  const std::string content = text(200);
  const std::string frame = frames.pack(content);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    ASSERT_FALSE(frames.unpack(frame.substr(0, size))) << size;
  }
  EXPECT_FALSE(frames.unpack(frame + "x"));
  EXPECT_FALSE(frames.unpack(frame + frame)) << "two frames are not one frame";
  EXPECT_FALSE(frames.unpack("no frame at all"));
  EXPECT_EQ(frames.unpack(frame), content)
      << "frames that were rejected before do not influence later frames";
}

TEST(ZstdFrames, WithAChangedBitNeverGiveAnotherContent) {
  ZstdFrames frames;
  const std::string content = text(100);
  const std::string frame = frames.pack(content);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    std::string damaged = frame;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto unpacked = frames.unpack(damaged);
    refused += unpacked ? 0 : 1;
    ASSERT_EQ(unpacked.value_or(content), content) << "bit " << bit;
  }
  EXPECT_GT(refused, frame.size() * 8 * 99 / 100);
}

}  // namespace
}  // namespace evo
