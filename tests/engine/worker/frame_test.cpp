#include "engine/worker/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"

namespace evo {
namespace {

using nlohmann::json;

std::string random_bytes(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

json random_message(Random& random) {
  json list = json::array();
  for (std::uint64_t i = random.below(5); i > 0; --i) list.push_back(random.uniform());
  return {{"number", random.bits()},
          {"text", "ä\"\n" + std::to_string(random.bits())},
          {"list", list},
          {"binary", to_binary(random_bytes(random, random.below(300)))}};
}

TEST(Frame, BinaryDataComesBackAsItWas) {
  Random random(1);
  for (const std::size_t size : {0, 1, 255, 65536}) {
    const std::string bytes = random_bytes(random, size);
    FrameReader reader;
    reader.feed(encode_frame({{"b", to_binary(bytes)}}));
    EXPECT_EQ(from_binary(reader.next()->at("b")), bytes);
  }
}

TEST(Frame, IsNotNestedWithoutEnd) {
  const auto nested = [](std::uint32_t levels) {
    // A frame begins with two lengths: the length of the rest of the frame, and the length of its
    // value.
    const std::uint32_t bytes = levels + sizeof levels;
    std::vector<std::uint8_t> frame(sizeof bytes + sizeof levels);
    std::memcpy(frame.data(), &bytes, sizeof bytes);
    std::memcpy(frame.data() + sizeof bytes, &levels, sizeof levels);
    frame.insert(frame.end(), levels - 1, 0x91);  // a list of one element
    frame.push_back(0xc0);
    return frame;
  };
  FrameReader reader;
  reader.feed(nested(60));
  EXPECT_TRUE(reader.next().has_value());
  reader.feed(nested(4'000'000));
  EXPECT_THROW((void)reader.next(), Error);
}

/// The received messages do not depend on the pieces in which the bytes of the stream arrive.
TEST(Frame, MayBeSplitAnywhere) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<json> sent;
    std::vector<std::uint8_t> stream;
    for (std::uint64_t i = random.below(6); i > 0; --i) {
      sent.push_back(random_message(random));
      const auto frame = encode_frame(sent.back());
      stream.insert(stream.end(), frame.begin(), frame.end());
    }
    FrameReader reader;
    std::vector<json> received;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t left = stream.size() - at;
      const std::size_t size =
          std::min<std::size_t>(left, 1 + random.below(round % 2 == 0 ? 7 : 900));
      reader.feed({stream.data() + at, size});
      at += size;
      while (auto message = reader.next()) received.push_back(*message);
    }
    ASSERT_EQ(received, sent);
    EXPECT_FALSE(reader.next().has_value());
  }
}

TEST(Frame, APartIsNotAMessage) {
  const auto frame = encode_frame({{"a", 1}});
  for (std::size_t size = 0; size < frame.size(); ++size) {
    FrameReader reader;
    reader.feed({frame.data(), size});
    EXPECT_FALSE(reader.next().has_value()) << size;
  }
}

TEST(Frame, AnAbsurdLengthIsAnErrorAndNotAWait) {
  FrameReader reader;
  const std::vector<std::uint8_t> bytes = {0xff, 0xff, 0xff, 0xff, 1, 2};
  reader.feed(bytes);
  EXPECT_THROW((void)reader.next(), Error);
}

TEST(Frame, GarbageIsAnErrorAndNeverACrash) {
  Random random(3);
  int errors = 0;
  for (int round = 0; round < 500; ++round) {
    auto frame = encode_frame(random_message(random));
    frame[4 + random.below(frame.size() - 4)] ^= static_cast<std::uint8_t>(1 + random.below(255));
    FrameReader reader;
    reader.feed(frame);
    try {
      (void)reader.next();  // a frame with a changed number is still valid
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 20);
}

}  // namespace
}  // namespace evo
