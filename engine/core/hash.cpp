#include "engine/core/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>

#include "engine/core/error.hpp"
#include "engine/core/file_reader.hpp"

namespace evo {

struct ContentHash::State {
  XXH3_state_t* xxh;
};

ContentHash::ContentHash() : state_(new State{XXH3_createState()}) {
  XXH3_128bits_reset(state_->xxh);
}

ContentHash::~ContentHash() { XXH3_freeState(state_->xxh); }

ContentHash& ContentHash::add(std::string_view field) {
  const std::uint64_t size = field.size();
  XXH3_128bits_update(state_->xxh, &size, sizeof size);
  XXH3_128bits_update(state_->xxh, field.data(), field.size());
  return *this;
}

ContentHash& ContentHash::add_file(const std::filesystem::path& file) {
  FileReader reader(file);
  const std::uint64_t size = reader.size();
  XXH3_128bits_update(state_->xxh, &size, sizeof size);
  std::uint64_t read = 0;
  for (std::string_view part = reader.next(); !part.empty(); part = reader.next()) {
    XXH3_128bits_update(state_->xxh, part.data(), part.size());
    read += part.size();
  }
  if (read == size) return *this;
  throw InputError(file.string() + ": evo-tune read " + std::to_string(read) +
                   " bytes, but the file's size is " + std::to_string(size) +
                   "; do not change the file while evo-tune reads it");
}

std::string ContentHash::hex() const {
  const XXH128_hash_t digest = XXH3_128bits_digest(state_->xxh);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string content_key(std::string_view text) { return ContentHash().add(text).hex(); }

}  // namespace evo
