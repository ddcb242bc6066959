#include "engine/worker/run_key.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "engine/worker/file_descriptor.hpp"

namespace evo {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kDigits = "0123456789abcdef";

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

std::string read_key_file(const std::string& name) {
  const FileDescriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat facts = {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0) {
    throw InputError(std::string(kKeyFileVariable) + ": " + name + ": " + std::strerror(errno));
  }
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw InputError(std::string(kKeyFileVariable) + ": other users may access " + name +
                     "; allowed: mode 600, set by: chmod 600 " + name);
  }
  std::array<char, 256> text{};
  const ssize_t count = read(file.get(), text.data(), text.size());
  return first_line(std::string(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0));
}

}  // namespace

std::string make_run_key() {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw MissingError(std::string("no random numbers for a key: ") + std::strerror(errno));
  }
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::vector<std::uint8_t> key_bytes(const std::string& text, const std::string& where) {
  std::vector<std::uint8_t> bytes;
  bool is_key = text.size() == 2 * kKeyBytes;
  for (std::size_t i = 0; is_key && i < text.size(); i += 2) {
    const std::size_t high = kDigits.find(text[i]);
    const std::size_t low = kDigits.find(text[i + 1]);
    is_key = high != std::string_view::npos && low != std::string_view::npos;
    bytes.push_back(static_cast<std::uint8_t>(high << 4U | low));
  }
  if (is_key) return bytes;
  throw InputError(where +
                   " holds no valid key; allowed: 64 hexadecimal digits, such as the output of "
                   "openssl rand -hex 32");
}

std::string key_of_environment() {
  std::string key;
  if (const auto text = environment_variable(kKeyVariable)) {
    key = *text;
  } else if (const auto file = environment_variable(kKeyFileVariable)) {
    key = read_key_file(*file);
  } else {
    throw InputError("no key: " + std::string(kKeyFileVariable) +
                     " must name a file of mode 600 that holds 64 hexadecimal digits, or " +
                     kKeyVariable + " must hold the digits");
  }
  (void)key_bytes(key, "the environment");
  return key;
}

std::string key_of_standard_input() {
  std::string line;
  std::getline(std::cin, line);
  (void)key_bytes(line, "standard input");
  return line;
}

}  // namespace evo
