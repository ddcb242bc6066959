#include "tests/fakes/fake_program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace evo::fake {
namespace {

constexpr const char* kHeadline = ".fake";

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-.0123456789") == std::string::npos;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string Program::name_of(const std::string& macro) const {
  const auto chosen = defines.find(macro);
  if (chosen == defines.end()) return {};
  if (!is_number(chosen->second)) return chosen->second;
  const std::string prefix = macro + "_";
  for (const auto& [name, value] : defines) {
    if (name.starts_with(prefix) && value == chosen->second) {
      return lower(name.substr(prefix.size()));
    }
  }
  return {};
}

double Program::number(const std::string& macro, double otherwise) const {
  const auto found = defines.find(macro);
  return found == defines.end() ? otherwise : std::stod(found->second);
}

std::string to_ptx(const Program& program) {
  std::string text = std::string(kHeadline) + " " + program.entry + "\n";
  for (const auto& [name, value] : program.defines) text += name + " " + value + "\n";
  return text;
}

Program from_ptx(const std::string& ptx) {
  std::istringstream words(ptx);
  Program program;
  std::string headline;
  words >> headline >> program.entry;
  if (headline != kHeadline) throw std::invalid_argument("no fake PTX: " + ptx.substr(0, 40));
  for (std::string name, value; words >> name >> value;) program.defines[name] = value;
  return program;
}

bool is_first_time(const std::string& what) {
  const char* state = std::getenv("EVO_FAKE_STATE");
  if (state == nullptr) return false;
  const std::string file = std::string(state) + "." + what;
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

bool was_first_time(const std::string& what) {
  const char* state = std::getenv("EVO_FAKE_STATE");
  return state != nullptr && access((std::string(state) + "." + what).c_str(), F_OK) == 0;
}

}  // namespace evo::fake
