#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace evo {

/// A section of an ELF file; its name and content are views of the file's content in memory.
struct ElfSection {
  std::string_view name;
  std::string_view content;  ///< empty if the file stores no content
  std::uint64_t size = 0;    ///< size in memory, also for sections without content
  std::uint32_t info = 0;
};

/// Copies a structure from position `offset` of the file; nullopt if the structure would extend
/// past the file's end.
template <typename T>
std::optional<T> read_at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

/// The zero-terminated text at `offset` in a string table.
[[nodiscard]] std::string_view text_at(std::string_view table, std::uint64_t offset);

/// All sections of a 64-bit ELF file, by index; empty if the file is damaged.
[[nodiscard]] std::vector<ElfSection> elf_sections(std::string_view file);

/// The first section named `name`, or null.
[[nodiscard]] const ElfSection* find_section(std::span<const ElfSection> sections,
                                             std::string_view name);

}  // namespace evo
