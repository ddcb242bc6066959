#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace evo {

/// A section of an ELF file, as views of the file.
struct ElfSection {
  std::string_view name;
  std::string_view content;  ///< empty where the file holds none
  std::uint64_t size = 0;    ///< in memory; sections without content have one, too
  std::uint32_t info = 0;
};

/// Copies a structure out of the file, or nothing when it would end beyond it.
template <typename T>
std::optional<T> read_at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

/// The text that begins at `offset` of a table of texts that end with a zero byte.
[[nodiscard]] std::string_view text_at(std::string_view table, std::uint64_t offset);

/// All sections of a 64-bit ELF file, by their index; empty when it is damaged.
[[nodiscard]] std::vector<ElfSection> elf_sections(std::string_view file);

/// The first of that name, or null.
[[nodiscard]] const ElfSection* find_section(std::span<const ElfSection> sections,
                                             std::string_view name);

}  // namespace evo
