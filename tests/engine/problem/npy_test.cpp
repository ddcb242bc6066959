#include "engine/problem/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

class Npy : public testing::Test {
 protected:
  /// Writes a .npy file in format version 1.0.
  void write(const std::string& type, const std::string& shape, const std::string& data,
             const std::string& order = "False") const {
    const std::string header =
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }\n";
    std::string text("\x93NUMPY\x01\0", 8);
    text.append({static_cast<char>(header.size()), '\0'}).append(header).append(data);
    write_file(file_, text);
  }
  template <typename T>
  static std::string bytes(std::initializer_list<T> values) {
    std::string text;
    for (const T value : values) {
      text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return text;
  }
  [[nodiscard]] std::vector<double> read(Dtype dtype, std::size_t count) const {
    return decode_all(dtype, read_npy(file_, dtype, count));
  }
  [[nodiscard]] std::string complaint(Dtype dtype, std::size_t count) const {
    try {
      (void)read_npy(file_, dtype, count);
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  }

  sample::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "a.npy";
};

TEST_F(Npy, WhatIsWrittenIsReadAgain) {
  for (const Dtype dtype :
       {Dtype::kE4m3, Dtype::kE5m2, Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64, Dtype::kI8,
        Dtype::kU8, Dtype::kI32, Dtype::kU32, Dtype::kI64, Dtype::kU64}) {
    std::vector<std::byte> content(5 * size_of(dtype));
    for (std::size_t i = 0; i < 5; ++i) {
      encode(dtype, 3 * static_cast<double>(i), content.data() + i * size_of(dtype));
    }
    write_npy(file_, dtype, content);
    EXPECT_EQ(read_npy(file_, dtype, 5), content) << to_string(dtype);
  }
}

TEST_F(Npy, Integers64AreExact) {
  constexpr std::uint64_t kOdd = (1ULL << 63) + 1;
  write("<u8", "1,", bytes<std::uint64_t>({kOdd}));
  std::uint64_t value = 0;
  std::memcpy(&value, read_npy(file_, Dtype::kU64, 1).data(), sizeof value);
  EXPECT_EQ(value, kOdd);
}

TEST_F(Npy, Integers64AreExactWithTheOtherSignToo) {
  constexpr std::int64_t kOdd = (1LL << 62) + 1;
  for (const auto& [name, to] : {std::pair{"<i8", Dtype::kU64}, std::pair{"<u8", Dtype::kI64}}) {
    write(name, "2,", bytes<std::int64_t>({7, kOdd}));
    std::int64_t value = 0;
    std::memcpy(&value, read_npy(file_, to, 2).data() + sizeof value, sizeof value);
    EXPECT_EQ(value, kOdd);
  }
  write("<i8", "2,", bytes<std::int64_t>({7, -1}));
  EXPECT_THAT(complaint(Dtype::kU64, 2), HasSubstr("element 1 is -1, which"));
  write("<u8", "1,", bytes<std::uint64_t>({~0ULL}));
  EXPECT_THAT(complaint(Dtype::kI64, 1), HasSubstr("element 0 is 18446744073709551615, which"));
}

TEST_F(Npy, ANumberThatTheTypeDoesNotHoldIsNoInfinity) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  write("<f8", "2,", bytes<double>({1, 1e9}));
  EXPECT_THAT(complaint(Dtype::kF16, 2), HasSubstr("element 1 is 1000000000.0, which"));
  write("<f8", "2,", bytes<double>({1, kInfinite}));
  EXPECT_THAT(read(Dtype::kF16, 2), testing::ElementsAre(1, kInfinite));
}

TEST_F(Npy, OtherTypesAreConverted) {
  write("<f8", "2, 2", bytes<double>({0.5, -2, 3, 1e-3}));
  EXPECT_THAT(read(Dtype::kF32, 4), testing::ElementsAre(0.5, -2, 3, static_cast<float>(1e-3)));
  EXPECT_THAT(complaint(Dtype::kI32, 4), HasSubstr("element 0 is 0.5"));
  write("|b1", "3,", bytes<char>({1, 0, 1}));
  EXPECT_THAT(read(Dtype::kF16, 3), testing::ElementsAre(1, 0, 1));
  write("<i8", "1,", bytes<std::int64_t>({1LL << 40}));
  EXPECT_THAT(complaint(Dtype::kI32, 1), HasSubstr("element 0 is"));
}

TEST_F(Npy, RawBytesAreSmallFloats) {
  write("|V1", "2,", "\x38\x40");  // 1 and 2 in e4m3
  EXPECT_THAT(read(Dtype::kE4m3, 2), testing::ElementsAre(1, 2));
  write("|V2", "1,", bytes<std::uint16_t>({0x3f80}));  // 1 in bf16
  EXPECT_THAT(read(Dtype::kBf16, 1), testing::ElementsAre(1));
  write("|V4", "1,", "abcd");
  EXPECT_THAT(complaint(Dtype::kF32, 1), HasSubstr("elements of type '|V4'"));
}

TEST_F(Npy, AFailedWriteSaysWhy) {
  const auto why = [](const std::filesystem::path& file) -> std::string {
    try {
      write_npy(file, Dtype::kF32, std::vector<std::byte>(4000));
    } catch (const InputError& error) {
      return error.what();
    }
    return "written";
  };
  EXPECT_EQ(why("/dev/full"), "/dev/full: cannot be written: No space left on device");
  EXPECT_THAT(why(file_ / "y.npy"), AnyOf(HasSubstr("No such file"), HasSubstr("Not a dir")));
}

/// The file is larger than the pieces in which it is read. The first piece contains the header and
/// the first elements.
TEST_F(Npy, LargeDataArePassedInParts) {
  constexpr std::size_t kCount = 1'000'003;
  std::vector<float> numbers(kCount);
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<float>(i);
  write_npy(file_, Dtype::kF32, std::as_bytes(std::span(numbers)));
  std::size_t parts = 0;
  std::vector<std::byte> read;
  read_npy_parts(file_, Dtype::kF32, kCount, [&](std::span<const std::byte> part) {
    ++parts;
    read.insert(read.end(), part.begin(), part.end());
  });
  EXPECT_GT(parts, 2U);
  const auto expected = std::as_bytes(std::span(numbers));
  EXPECT_TRUE(std::ranges::equal(read, expected));
  EXPECT_TRUE(std::ranges::equal(read_npy(file_, Dtype::kF32, kCount), expected));
  EXPECT_EQ(decode_all(Dtype::kF64, read_npy(file_, Dtype::kF64, kCount)).back(), kCount - 1);
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
  EXPECT_THAT(complaint(Dtype::kF32, kCount),
              HasSubstr("has 4000011 bytes of data; its header says 4000012"));
}

TEST_F(Npy, AShapeOfNothingIsOneElement) {
  write("<f4", "", bytes<float>({7}));
  EXPECT_THAT(read(Dtype::kF32, 1), testing::ElementsAre(7));
}

TEST_F(Npy, WhatDoesNotFitIsSaid) {
  write("<f4", "3,", bytes<float>({1, 2, 3}));
  EXPECT_THAT(complaint(Dtype::kF32, 4),
              AllOf(HasSubstr("a.npy"), HasSubstr("has 3 elements"), HasSubstr("allowed here: 4")));
  write("<f4", "4,", bytes<float>({1, 2, 3}));
  EXPECT_THAT(complaint(Dtype::kF32, 4), HasSubstr("has 12 bytes of data; its header says 16"));
  write("<f8", "4,", bytes<float>({1, 2, 3}));
  EXPECT_THAT(complaint(Dtype::kF32, 4), HasSubstr("its header says 32"));
  write("<f4", "2, 2", bytes<float>({1, 2, 3, 4}), "True");
  EXPECT_THAT(complaint(Dtype::kF32, 4), HasSubstr("Fortran order"));
  write(">f4", "1,", "abcd");
  EXPECT_THAT(complaint(Dtype::kF32, 1), HasSubstr("'>f4'"));
  write("<c8", "1,", "abcdefgh");
  EXPECT_THAT(complaint(Dtype::kF32, 1), HasSubstr("'<c8'"));
  write("<f4", "99999999999999999999,", "abcd");
  EXPECT_THAT(complaint(Dtype::kF32, 1),
              AllOf(HasSubstr("its shape is (99999999999999999999,)"), HasSubstr("1 elements")));
  for (const char* shape :
       {"-1,", "1 1", "1,,1", "0x1", "1.0", "59744753754112, 308761441", "()"}) {
    write("<f4", shape, "abcd");
    EXPECT_THAT(complaint(Dtype::kF32, 4096), AnyOf(HasSubstr("its shape is"), HasSubstr("header")))
        << shape;
  }
  write_file(file_, "x,y\n1,2\n");
  EXPECT_THAT(complaint(Dtype::kF32, 1), HasSubstr("is not a .npy file"));
  write_file(file_, std::string("\x93NUMPY\x01\0\xff\xff{'descr'", 18));
  EXPECT_THAT(complaint(Dtype::kF32, 1), HasSubstr("ends within its header"));
}

/// NumPy uses the last of two equal keys in the header of a .npy file, and rejects a header that is
/// not a dictionary of the keys descr, fortran_order and shape. evo-tune rejects all such headers.
TEST_F(Npy, AHeaderThatNumPyMayReadOtherwiseIsRefused) {
  const auto with_header = [&](std::string header) {
    header.resize(118, ' ');
    write_file(file_, std::string("\x93NUMPY\x01\0\x76\0", 10) + header + "abcd");
    return complaint(Dtype::kF32, 1);
  };
  EXPECT_EQ(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"), "read");
  EXPECT_EQ(with_header("{'shape':(1,),'fortran_order':False,'descr':'<f4'}\n"), "read");
  for (const char* header :
       {"{'descr': '<f4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'fortran_order': True, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1, }",
        "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'shape': (1,)}",
        "{'fortran_order': False, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': 0}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + {}",
        "'descr': '<f4', 'fortran_order': False, 'shape': (1,)"}) {
    EXPECT_THAT(with_header(header), HasSubstr("its header differs from NumPy's format")) << header;
  }
}

/// Integers in a file that is read as an 8-bit float are numbers, not bit patterns. A number that
/// the type cannot hold is an error.
TEST_F(Npy, BytesThatAnEightBitFloatDoesNotHoldAreNoNumbers) {
  write("|u1", "3,", bytes<unsigned char>({0, 16, 240}));
  EXPECT_THAT(read(Dtype::kE4m3, 3), testing::ElementsAre(0, 16, 240));
  write("|u1", "2,", bytes<unsigned char>({1, 127}));
  EXPECT_THAT(complaint(Dtype::kE4m3, 2),
              AllOf(HasSubstr("element 1 is 127"), HasSubstr("raw byte, '|V1'")));
  write("|i1", "1,", bytes<signed char>({9}));
  EXPECT_THAT(complaint(Dtype::kE5m2, 1), HasSubstr("element 0 is 9"));
}

/// The reader must not crash on a .npy file that is cut off or in which one byte was changed.
TEST_F(Npy, BrokenHeadersAreNoCrash) {
  write("<f4", "2,", bytes<float>({1, 2}));
  const std::string whole = read_text_file(file_);
  for (std::size_t at = 8; at < whole.size(); ++at) {
    for (const char c : {'\0', '\'', '(', ')', '}', '\xff', '9'}) {
      std::string text = whole;
      text[at] = c;
      write_file(file_, text);
      (void)complaint(Dtype::kF32, 2);
    }
    write_file(file_, whole.substr(0, at));
    (void)complaint(Dtype::kF32, 2);
  }
}

}  // namespace
}  // namespace evo
