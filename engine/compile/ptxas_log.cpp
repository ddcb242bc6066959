#include "engine/compile/ptxas_log.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace evo {
namespace {

/// The integer that ends right before `marker` in `line`, as in "  160 bytes stack frame".
std::optional<int> number_before(std::string_view line, std::string_view marker) {
  const std::size_t end = line.find(marker);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  std::size_t start = end;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  int value = 0;
  const auto result = std::from_chars(line.data() + start, line.data() + end, value);
  if (result.ec != std::errc() || result.ptr != line.data() + end) return std::nullopt;
  return value;
}

/// The part of the log from the entry's headline to the next entry's.
std::string_view section_of(std::string_view log, std::string_view entry) {
  constexpr std::string_view kHeadline = "Compiling entry function '";
  const std::string headline = std::string(kHeadline) + std::string(entry) + "'";
  const std::size_t start = log.find(headline);
  if (start == std::string_view::npos) return {};
  const std::size_t end = log.find(kHeadline, start + headline.size());
  return log.substr(start, end == std::string_view::npos ? end : end - start);
}

struct Section {
  std::string_view name;
  std::string_view content;
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

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::vector<Section> sections_of(std::string_view file) {
  std::vector<Section> sections;
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
    sections.push_back({text_at(names, section.sh_name), content(section), section.sh_info});
  }
  return sections;
}

const Section* find_section(std::span<const Section> sections, std::string_view name) {
  for (const Section& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

/// REGCOUNT of the symbol `entry` in the attributes of `.nv.info`. Each attribute is {format u8,
/// code u8, size u16} and, for format 4, `size` bytes; here {symbol index u32, registers u32}.
std::optional<int> regcount_attribute(std::span<const Section> sections, std::string_view entry) {
  constexpr std::uint8_t kFormatSized = 4;
  constexpr std::uint8_t kRegcount = 0x2f;
  const Section* info = find_section(sections, ".nv.info");
  const Section* symbols = find_section(sections, ".symtab");
  const Section* names = find_section(sections, ".strtab");
  if (info == nullptr || symbols == nullptr || names == nullptr) return std::nullopt;
  for (std::size_t at = 0; at + 4 <= info->content.size();) {
    const auto format = static_cast<std::uint8_t>(info->content[at]);
    const auto code = static_cast<std::uint8_t>(info->content[at + 1]);
    const std::size_t size = *read_at<std::uint16_t>(info->content, at + 2);
    if (format == kFormatSized && code == kRegcount) {
      const auto index = read_at<std::uint32_t>(info->content, at + 4);
      const auto count = read_at<std::uint32_t>(info->content, at + 8);
      if (!index || !count) return std::nullopt;
      const auto symbol = read_at<Elf64_Sym>(symbols->content, *index * sizeof(Elf64_Sym));
      if (symbol && text_at(names->content, symbol->st_name) == entry) {
        return static_cast<int>(*count);
      }
    }
    at += 4 + (format == kFormatSized ? size : 0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Resources> parse_ptxas_log(std::string_view log, std::string_view entry) {
  std::string_view rest = section_of(log, entry);
  Resources resources;
  bool has_frame = false;
  bool has_registers = false;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const auto stack = number_before(line, " bytes stack frame");
    const auto stores = number_before(line, " bytes spill stores");
    const auto loads = number_before(line, " bytes spill loads");
    if (stack && stores && loads) {
      // Functions that were not inlined report frames of their own: all of them count.
      resources.stack_bytes += *stack;
      resources.spill_store_bytes += *stores;
      resources.spill_load_bytes += *loads;
      has_frame = true;
    }
    if (const auto registers = number_before(line, " registers")) {
      resources.registers = *registers;
      resources.static_shared_bytes = number_before(line, " bytes smem").value_or(0);
      has_registers = true;
    }
  }
  if (!has_frame || !has_registers) return std::nullopt;
  return resources;
}

std::optional<int> cubin_registers(std::string_view cubin, std::string_view entry) {
  constexpr int kRegistersShift = 24;
  const std::vector<Section> sections = sections_of(cubin);
  const Section* text = find_section(sections, ".text." + std::string(entry));
  const std::optional<int> attribute = regcount_attribute(sections, entry);
  if (text == nullptr || !attribute) return std::nullopt;
  // ELF files of ABI version 8 (sm_90 and later) leave the upper byte of sh_info zero.
  const auto in_header = static_cast<int>(text->info >> kRegistersShift);
  if (in_header != 0 && in_header != *attribute) return std::nullopt;
  return attribute;
}

}  // namespace evo
