#include "engine/cubin/elf.hpp"

#include <elf.h>

namespace evo {

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::vector<ElfSection> elf_sections(std::string_view file) {
  std::vector<ElfSection> sections;
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return sections;
  std::vector<Elf64_Shdr> raw;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return {};
    raw.push_back(*section);
  }
  const auto content = [&](const Elf64_Shdr& section) -> std::string_view {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > file.size()) return {};
    return file.substr(section.sh_offset, section.sh_size);
  };
  if (header->e_shstrndx >= raw.size()) return {};
  const std::string_view names = content(raw[header->e_shstrndx]);
  for (const Elf64_Shdr& section : raw) {
    sections.push_back(
        {text_at(names, section.sh_name), content(section), section.sh_size, section.sh_info});
  }
  return sections;
}

const ElfSection* find_section(std::span<const ElfSection> sections, std::string_view name) {
  for (const ElfSection& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

}  // namespace evo
