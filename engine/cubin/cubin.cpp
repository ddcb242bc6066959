#include "engine/cubin/cubin.hpp"

#include <elf.h>

#include <cstdint>
#include <limits>
#include <map>
#include <span>

#include "engine/cubin/elf.hpp"

namespace evo {
namespace {

constexpr std::uint8_t kMaxThreads = 0x05;
constexpr std::uint8_t kParameterBank = 0x0a;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kParameter = 0x17;
constexpr std::uint8_t kRegcount = 0x2f;
/// The bit position of the parameter bank's size in the second word of the attribute
/// kParameterBank.
constexpr int kBankSizeShift = 16;

/// Finds the first attribute `code` whose first `words` words `accept` accepts, and returns these
/// words; nullopt if there is none. Each attribute is {format u8, code u8, size u16} and, for
/// format 4, `size` bytes.
template <typename Accept>
std::optional<std::vector<std::uint32_t>> find_attribute(std::string_view list, std::uint8_t code,
                                                         std::size_t words, Accept accept) {
  constexpr std::uint8_t kFormatSized = 4;
  for (std::size_t at = 0; at + 4 <= list.size();) {
    const auto format = static_cast<std::uint8_t>(list[at]);
    const std::size_t size = *read_at<std::uint16_t>(list, at + 2);
    if (format == kFormatSized && static_cast<std::uint8_t>(list[at + 1]) == code) {
      std::vector<std::uint32_t> values;
      for (std::size_t i = 0; i < words; ++i) {
        const auto word = read_at<std::uint32_t>(list, at + 4 + 4 * i);
        if (!word) return std::nullopt;
        values.push_back(*word);
      }
      if (accept(values)) return values;
    }
    at += 4 + (format == kFormatSized ? size : 0);
  }
  return std::nullopt;
}

/// Converts a count from the ELF file; nullopt if the count is implausibly large.
std::optional<int> sensible(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return std::nullopt;
  return static_cast<int>(value);
}

/// The value of the attribute {symbol index, value} of `.nv.info` for the symbol `entry`.
std::optional<int> symbol_attribute(std::span<const ElfSection> sections, std::uint8_t code,
                                    std::string_view entry) {
  const ElfSection* info = find_section(sections, ".nv.info");
  const ElfSection* symbols = find_section(sections, ".symtab");
  const ElfSection* names = find_section(sections, ".strtab");
  if (info == nullptr || symbols == nullptr || names == nullptr) return std::nullopt;
  const auto of_entry = [&](const std::vector<std::uint32_t>& words) {
    const auto symbol =
        read_at<Elf64_Sym>(symbols->content, std::uint64_t{words[0]} * sizeof(Elf64_Sym));
    return symbol && text_at(names->content, symbol->st_name) == entry;
  };
  const auto found = find_attribute(info->content, code, 2, of_entry);
  return found ? sensible((*found)[1]) : std::nullopt;
}

/// The architecture of the cubin's machine code: 90 for sm_90; 0 if the cubin is too short. In ELF
/// files of ABI version 8, which NVRTC 13.0 and later write, the architecture is one byte higher in
/// e_flags.
std::uint32_t architecture(std::string_view cubin) {
  constexpr std::uint8_t kAbiWithWideFlags = 8;
  constexpr std::uint32_t kByte = 0xff;
  const auto header = read_at<Elf64_Ehdr>(cubin, 0);
  if (!header) return 0;
  const bool is_wide = header->e_ident[EI_ABIVERSION] >= kAbiWithWideFlags;
  return (is_wide ? header->e_flags >> 8 : header->e_flags) & kByte;
}

/// Bytes of a kernel's static shared memory: the size of the section .nv.shared.<entry>, or 0
/// without this section. From sm_90 on, the size includes the first KiB of every CTA's shared
/// memory, which the system reserves, so the function subtracts this KiB. Nullopt if the size is
/// smaller than this KiB or implausibly large.
std::optional<int> static_shared(std::string_view cubin, std::span<const ElfSection> sections,
                                 const std::string& entry) {
  constexpr std::uint64_t kReserved = 1024;
  constexpr std::uint32_t kFirstThatReserves = 90;
  const ElfSection* shared = find_section(sections, ".nv.shared." + entry);
  if (shared == nullptr) return 0;
  if (architecture(cubin) < kFirstThatReserves) return sensible(shared->size);
  return shared->size < kReserved ? std::nullopt : sensible(shared->size - kReserved);
}

int max_threads(std::span<const ElfSection> sections, const std::string& entry) {
  const ElfSection* info = find_section(sections, ".nv.info." + entry);
  if (info == nullptr) return 0;
  const auto found = find_attribute(info->content, kMaxThreads, 3,
                                    [](const std::vector<std::uint32_t>&) { return true; });
  if (!found) return 0;
  std::uint64_t threads = 1;
  for (const std::uint32_t size : *found) {
    threads *= size;
    if (threads > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return 0;
  }
  return static_cast<int>(threads);
}

}  // namespace

std::optional<CubinFacts> read_cubin(std::string_view cubin, std::string_view entry) {
  constexpr int kRegistersShift = 24;
  const std::string name(entry);
  const std::vector<ElfSection> sections = elf_sections(cubin);
  const ElfSection* text = find_section(sections, ".text." + name);
  const std::optional<int> registers = symbol_attribute(sections, kRegcount, entry);
  const std::optional<int> shared = static_shared(cubin, sections, name);
  if (text == nullptr || !registers || !shared) return std::nullopt;
  // In ELF files of ABI version 8, the upper byte of sh_info is zero and does not hold the register
  // count.
  const auto in_header = static_cast<int>(text->info >> kRegistersShift);
  if (in_header != 0 && in_header != *registers) return std::nullopt;
  return CubinFacts{*registers, *shared, symbol_attribute(sections, kFrameSize, entry).value_or(0),
                    max_threads(sections, name)};
}

std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view cubin,
                                                        std::string_view entry) {
  // The words of the attribute KPARAM_INFO are {index u32, {ordinal u16, offset u16}, {flags 18
  // bits, bytes 14 bits}}. The attributes of parameters are listed from the last parameter to the
  // first.
  constexpr std::size_t kWords = 3;
  constexpr std::uint32_t kOrdinal = 0xffff;
  constexpr int kSizeShift = 18;
  const std::vector<ElfSection> sections = elf_sections(cubin);
  const ElfSection* info = find_section(sections, ".nv.info." + std::string(entry));
  if (info == nullptr) return std::nullopt;
  std::map<std::uint32_t, std::size_t> sizes;
  (void)find_attribute(info->content, kParameter, kWords,
                       [&](const std::vector<std::uint32_t>& words) {
                         sizes[words[1] & kOrdinal] = words[2] >> kSizeShift;
                         return false;
                       });
  std::vector<std::size_t> in_order;
  for (const auto& [ordinal, bytes] : sizes) {
    if (ordinal != in_order.size()) return std::nullopt;
    in_order.push_back(bytes);
  }
  // If the parameters' constant bank is not empty, but no parameter was found, the cubin describes
  // its parameters by attributes that this function does not know.
  const auto bank = find_attribute(info->content, kParameterBank, 2,
                                   [](const std::vector<std::uint32_t>&) { return true; });
  if (in_order.empty() && bank && (*bank)[1] >> kBankSizeShift != 0) return std::nullopt;
  return in_order;
}

std::vector<std::string> cubin_functions(std::string_view cubin) {
  constexpr std::string_view kText = ".text.";
  std::vector<std::string> names;
  for (const ElfSection& section : elf_sections(cubin)) {
    if (section.name.starts_with(kText)) names.emplace_back(section.name.substr(kText.size()));
  }
  return names;
}

}  // namespace evo
