#include "engine/ptx/parameters.hpp"

#include "engine/ptx/function_parser.hpp"

namespace evo {

std::optional<std::vector<PtxParameter>> parameters_of(std::string_view ptx,
                                                       std::string_view symbol) {
  const std::string begin = ".entry " + std::string(symbol) + "(";
  const std::size_t at = ptx.find(begin);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = ptx.substr(at + begin.size() - 1);
  std::vector<PtxParameter> parameters;
  try {
    ptx::TokenStream tokens(rest.substr(0, rest.find(')') + 1));
    for (const ptx::Variable& variable : ptx::parse_parameters(tokens)) {
      parameters.push_back({std::string(1, '.').append(name_of(variable.type)), variable.bytes});
    }
  } catch (const ptx::PtxError&) {
    return std::nullopt;
  }
  return parameters;
}

}  // namespace evo
