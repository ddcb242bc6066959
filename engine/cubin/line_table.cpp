#include "engine/cubin/line_table.hpp"

#include <elf.h>

#include <algorithm>
#include <map>
#include <string>

#include "engine/cubin/elf.hpp"

namespace evo {
namespace {

// Opcodes of DWARF 2's line number program.
constexpr std::uint8_t kExtended = 0;
constexpr std::uint8_t kCopy = 1;
constexpr std::uint8_t kAdvancePc = 2;
constexpr std::uint8_t kAdvanceLine = 3;
constexpr std::uint8_t kConstAddPc = 8;
constexpr std::uint8_t kFixedAdvancePc = 9;
constexpr std::uint8_t kEndSequence = 1;
constexpr std::uint8_t kSetAddress = 2;

/// Reads successive numbers. If a number lies past the end of the data, number() returns 0 and
/// failed() returns true.
class Reader {
 public:
  explicit Reader(std::string_view data, std::uint64_t at = 0) : data_(data), at_(at) {}
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  void go_to(std::uint64_t at) { at_ = at; }

  template <typename T>
  T number() {
    const auto value = read_at<T>(data_, at_);
    failed_ = failed_ || !value;
    at_ += sizeof(T);
    return value.value_or(T{});
  }

  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !failed_; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return value;
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x80;
    while ((byte & 0x80U) != 0 && !failed_) {
      byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

 private:
  std::string_view data_;
  std::uint64_t at_;
  bool failed_ = false;
};

/// For each relocated address in the line table, by its position: the index of the section to which
/// the address refers.
using Targets = std::map<std::uint64_t, std::uint16_t>;

/// `Relocation`: Elf64_Rel or Elf64_Rela, whose first members have the same layout.
template <typename Relocation>
void add_targets(std::span<const ElfSection> sections, std::string_view name, Targets& targets) {
  const ElfSection* relocations = find_section(sections, name);
  const ElfSection* symbols = find_section(sections, ".symtab");
  if (relocations == nullptr || symbols == nullptr) return;
  for (std::uint64_t at = 0; at < relocations->content.size(); at += sizeof(Relocation)) {
    const auto relocation = read_at<Relocation>(relocations->content, at);
    if (!relocation) return;
    const auto symbol =
        read_at<Elf64_Sym>(symbols->content, ELF64_R_SYM(relocation->r_info) * sizeof(Elf64_Sym));
    if (symbol) targets[relocation->r_offset] = symbol->st_shndx;
  }
}

Targets targets_of(std::span<const ElfSection> sections) {
  Targets targets;
  add_targets<Elf64_Rela>(sections, ".rela.nv_debug_line_sass", targets);
  add_targets<Elf64_Rel>(sections, ".rel.nv_debug_line_sass", targets);
  return targets;
}

/// The number of the line `.version` in the PTX text that the cubin contains; 0 if there is no such
/// line. LineOfCode counts lines from the line of `.version`, so that the numbers also hold for the
/// stored PTX, in which with_entries() may have put comments before `.version`.
std::uint32_t version_line(const ElfSection& text) {
  constexpr std::string_view kVersion(".version");
  std::uint32_t line = 1;
  for (std::size_t at = 0; at < text.content.size();) {
    const std::string_view rest = text_at(text.content, at);
    if (rest.starts_with(kVersion)) return line;
    at += rest.size() + 1;
    ++line;
  }
  return 0;
}

/// A unit of the line table: a header and a line number program.
class Unit {
 public:
  Unit(std::string_view data, std::uint64_t start, const Targets& targets, std::size_t wanted)
      : reader_(data, start), targets_(targets), wanted_(wanted) {}

  /// Appends the PTX lines of the machine code in the section with index `wanted`. Returns the
  /// start of the line table's next unit, or 0 if this unit is damaged.
  std::uint64_t run(std::vector<LineOfCode>& lines) {
    const auto length = reader_.number<std::uint32_t>();
    const std::uint64_t end = reader_.at() + length;
    (void)reader_.number<std::uint16_t>();  // version
    const auto header = reader_.number<std::uint32_t>();
    const std::uint64_t program = reader_.at() + header;
    const auto unit = reader_.number<std::uint8_t>();
    (void)reader_.number<std::uint8_t>();  // default_is_stmt
    const auto line_base = reader_.number<std::uint8_t>();
    line_base_ = line_base < 0x80 ? line_base : line_base - 0x100;
    line_range_ = reader_.number<std::uint8_t>();
    opcode_base_ = reader_.number<std::uint8_t>();
    std::vector<std::uint8_t> operands(static_cast<std::size_t>(opcode_base_), 0);
    for (std::size_t i = 1; i < operands.size(); ++i) operands[i] = reader_.number<std::uint8_t>();
    if (reader_.failed() || line_range_ == 0 || opcode_base_ == 0 || program < reader_.at())
      return 0;
    unit_ = unit;
    reader_.go_to(program);
    while (reader_.at() < end && !reader_.failed()) step(operands, lines);
    return reader_.failed() ? 0 : end;
  }

 private:
  void step(const std::vector<std::uint8_t>& operands, std::vector<LineOfCode>& lines) {
    const auto opcode = reader_.number<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const int adjusted = opcode - opcode_base_;
      address_ += static_cast<std::uint64_t>(adjusted / line_range_) * unit_;
      line_ += line_base_ + adjusted % line_range_;
      add(lines, false);
      return;
    }
    switch (opcode) {
      case kExtended:
        extended(lines);
        break;
      case kCopy:
        add(lines, false);
        break;
      case kAdvancePc:
        address_ += reader_.leb() * unit_;
        break;
      case kAdvanceLine:
        line_ += reader_.signed_leb();
        break;
      case kConstAddPc:
        address_ += static_cast<std::uint64_t>((255 - opcode_base_) / line_range_) * unit_;
        break;
      case kFixedAdvancePc:
        address_ += reader_.number<std::uint16_t>();
        break;
      default:
        for (int i = 0; i < operands[opcode]; ++i) (void)reader_.leb();
    }
  }

  void extended(std::vector<LineOfCode>& lines) {
    const std::uint64_t length = reader_.leb();
    const std::uint64_t end = reader_.at() + length;
    const auto opcode = reader_.number<std::uint8_t>();
    if (opcode == kEndSequence) {
      add(lines, true);
      address_ = 0;
      line_ = 1;
      is_wanted_ = false;
    } else if (opcode == kSetAddress) {
      const auto target = targets_.find(reader_.at());
      is_wanted_ = target == targets_.end() ? targets_.empty() : target->second == wanted_;
      address_ = reader_.number<std::uint64_t>();
    }
    reader_.go_to(end);
  }

  void add(std::vector<LineOfCode>& lines, bool ends) const {
    if (is_wanted_ && line_ > 0)
      lines.push_back({address_, static_cast<std::uint32_t>(line_), ends});
  }

  Reader reader_;
  const Targets& targets_;
  std::size_t wanted_;
  int line_base_ = 0;
  int line_range_ = 1;
  int opcode_base_ = 0;
  std::uint64_t unit_ = 1;
  std::uint64_t address_ = 0;
  std::int64_t line_ = 1;
  bool is_wanted_ = false;
};

}  // namespace

std::vector<LineOfCode> ptx_lines(std::string_view cubin, std::string_view entry) {
  const std::vector<ElfSection> sections = elf_sections(cubin);
  const ElfSection* table = find_section(sections, ".nv_debug_line_sass");
  const ElfSection* text = find_section(sections, ".text." + std::string(entry));
  std::vector<LineOfCode> lines;
  const ElfSection* ptx = find_section(sections, ".nv_debug_ptx_txt");
  if (table == nullptr || text == nullptr || ptx == nullptr) return lines;
  const Targets targets = targets_of(sections);
  const auto wanted = static_cast<std::size_t>(text - sections.data());
  std::uint64_t at = 0;
  while (at < table->content.size()) {
    const std::uint64_t next = Unit(table->content, at, targets, wanted).run(lines);
    if (next <= at) break;
    at = next;
  }
  const std::uint32_t first = version_line(*ptx);
  std::erase_if(lines, [&](const LineOfCode& line) { return !line.ends && line.line <= first; });
  for (LineOfCode& line : lines) line.line -= std::min(first, line.line);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineOfCode& a, const LineOfCode& b) { return a.offset < b.offset; });
  return lines;
}

}  // namespace evo
