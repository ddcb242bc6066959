#include "engine/cubin/machine_code.hpp"

#include <string>

#include "engine/cubin/elf.hpp"
#include "engine/cubin/line_table.hpp"

namespace evo {

std::vector<MachineInstruction> read_machine_code(std::string_view cubin, std::string_view entry) {
  constexpr std::uint64_t kBytes = 16;
  const std::vector<ElfSection> sections = elf_sections(cubin);
  const ElfSection* text = find_section(sections, ".text." + std::string(entry));
  std::vector<MachineInstruction> code;
  if (text == nullptr) return code;
  const std::vector<LineOfCode> lines = ptx_lines(cubin, entry);
  auto next = lines.begin();
  std::uint32_t line = 0;
  for (std::uint64_t at = 0; at + kBytes <= text->content.size(); at += kBytes) {
    for (; next != lines.end() && next->offset <= at; ++next) line = next->ends ? 0 : next->line;
    code.push_back({*read_at<std::uint64_t>(text->content, at),
                    *read_at<std::uint64_t>(text->content, at + 8), line});
  }
  return code;
}

}  // namespace evo
