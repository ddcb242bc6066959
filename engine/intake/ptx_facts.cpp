#include "engine/intake/ptx_facts.hpp"

#include <algorithm>
#include <bitset>
#include <initializer_list>
#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "engine/ptx/parser.hpp"
#include "engine/ptx/variables.hpp"

namespace evo {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

constexpr std::size_t kMostParameters = 1024;
/// The set of the kernel's parameters on which a value may depend.
using Origins = std::bitset<kMostParameters>;

bool has_modifier(const Instruction& instruction, std::string_view modifier) {
  return std::ranges::find(instruction.modifiers, modifier) != instruction.modifiers.end();
}

bool has_any(const Instruction& instruction, std::initializer_list<std::string_view> modifiers) {
  return std::ranges::any_of(
      modifiers, [&](std::string_view modifier) { return has_modifier(instruction, modifier); });
}

bool is_shared_or_local(const Instruction& instruction) {
  return std::ranges::any_of(instruction.modifiers, [](const auto& modifier) {
    return modifier.starts_with("shared") || modifier == "local" || modifier.starts_with("param") ||
           modifier == "const";
  });
}

void for_each_register(const Operand& operand, const auto& visit) {
  if (operand.kind == Operand::Kind::kRegister) visit(operand.reg);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

void for_each_symbol(const Operand& operand, const auto& visit) {
  if (operand.kind == Operand::Kind::kSymbol) visit(operand);
  for (const Operand& element : operand.elements) for_each_symbol(element, visit);
}

int dimension_of(const std::string& name, std::initializer_list<std::string_view> registers) {
  for (const std::string_view base : registers) {
    if (name.size() == base.size() + 2 && name.starts_with(base)) return name.back() - 'x' + 1;
  }
  return 0;
}

class Reader {
 public:
  Reader(const ptx::Module& module, const std::string& symbol) : module_(module) {
    const auto entry = module.functions.find(symbol);
    if (entry == module.functions.end() || !entry->second.is_entry) {
      throw InputError("the compiled code has no kernel '" + symbol + "'");
    }
    entry_ = &entry->second;
    reach(*entry_);
  }

  PtxFacts read() {
    for (const int parameter : entry_->parameters) {
      facts_.parameters.push_back(
          {entry_->variables.at(static_cast<std::size_t>(parameter)).bytes});
    }
    if (facts_.parameters.size() > kMostParameters)
      throw InputError("the kernel has more than 1024 parameters");
    for (has_changed_ = true; has_changed_;) {
      has_changed_ = false;
      for (const Function* function : reached_) follow(*function);
    }
    for (const Function* function : reached_) judge(*function);
    return std::move(facts_);
  }

 private:
  /// Collects `function` and all functions that it may call, directly or through other functions.
  void reach(const Function& function) {
    if (std::find(reached_.begin(), reached_.end(), &function) != reached_.end()) return;
    reached_.push_back(&function);
    for (const Instruction& instruction : function.body) {
      for (const Operand& operand : instruction.operands) {
        for_each_symbol(operand, [&](const Operand& symbol) {
          const auto called = module_.functions.find(symbol.name);
          if (called != module_.functions.end()) reach(called->second);
        });
      }
    }
  }

  /// The index of the kernel's parameter named by `operand`, or -1.
  [[nodiscard]] int parameter_of(const Function& function, const Operand& operand) const {
    int found = -1;
    for_each_symbol(operand, [&](const Operand& symbol) {
      if (&function != entry_) return;
      const auto at =
          std::find(entry_->parameters.begin(), entry_->parameters.end(), symbol.variable);
      if (symbol.variable >= 0 && at != entry_->parameters.end()) {
        found = static_cast<int>(at - entry_->parameters.begin());
      }
    });
    return found;
  }

  [[nodiscard]] Origins origins(const Function& function, const Operand& operand) {
    Origins all;
    for_each_register(operand, [&](int reg) { all |= registers_[{&function, reg}]; });
    if (const int parameter = parameter_of(function, operand); parameter >= 0) {
      all.set(static_cast<std::size_t>(parameter));
    }
    return all;
  }

  void grow(Origins& target, const Origins& by) {
    if ((by & ~target).none()) return;
    target |= by;
    has_changed_ = true;
  }

  void follow(const Function& function) {
    for (const Instruction& instruction : function.body) {
      if (instruction.operands.empty()) continue;
      const bool is_store = instruction.opcode == Opcode::kSt;
      if (is_store || instruction.opcode == Opcode::kCall) {
        // Marks the parameters whose values are passed to a function or stored by an st without
        // .global: a load without .global may return them (see sources_of()).
        for (std::size_t i = is_store ? 1 : 0; i < instruction.operands.size(); ++i) {
          if (!has_modifier(instruction, "global")) {
            grow(escaped_, origins(function, instruction.operands[i]));
          }
        }
        continue;
      }
      if (instruction.operands[0].kind == Operand::Kind::kAddress) continue;
      const Origins sources = sources_of(function, instruction);
      for_each_register(instruction.operands[0], [&](int reg) {
        grow(registers_[{&function, reg}], sources);
      });
    }
  }

  /// The kernel parameters on which an instruction's result may depend; none for data from global
  /// memory.
  Origins sources_of(const Function& function, const Instruction& instruction) {
    Origins sources;
    if (instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kLdu) {
      const int parameter = parameter_of(function, instruction.operands[1]);
      if (parameter >= 0) return sources.set(static_cast<std::size_t>(parameter));
      return has_modifier(instruction, "global") ? Origins() : escaped_;
    }
    switch (instruction.opcode) {
      case Opcode::kAtom:
      case Opcode::kCreatepolicy:
      case Opcode::kLdmatrix:
      case Opcode::kTex:
      case Opcode::kWmma:
        return {};
      default:
        break;
    }
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      sources |= origins(function, instruction.operands[i]);
    }
    return sources;
  }

  void judge(const Function& function) {
    for (const Instruction& instruction : function.body) {
      for (const Operand& operand : instruction.operands) {
        for_each_symbol(operand, [&](const Operand& symbol) { name(symbol, instruction); });
        const int parameter = parameter_of(function, operand);
        if (parameter >= 0) use(parameter).is_used = true;
      }
      if (instruction.opcode == Opcode::kCvta && has_modifier(instruction, "global") &&
          instruction.operands.size() > 1) {
        each(origins(function, instruction.operands[1]),
             [](ParameterUse& parameter) { parameter.is_address = true; });
      }
      judge_access(function, instruction);
    }
  }

  ParameterUse& use(int parameter) {
    return facts_.parameters[static_cast<std::size_t>(parameter)];
  }
  void each(const Origins& origins, const auto& change) {
    for (std::size_t i = 0; i < facts_.parameters.size(); ++i) {
      if (origins.test(i)) change(facts_.parameters[i]);
    }
  }
  void load(const Origins& origins) {
    each(origins, [](ParameterUse& parameter) { parameter.is_loaded = true; });
  }
  void store(const Origins& origins) {
    each(origins, [](ParameterUse& parameter) { parameter.is_stored = true; });
  }

  void depends(const Instruction& instruction, const std::string& why) {
    if (facts_.dependence.empty()) facts_.dependence = instruction.spelling + ": " + why;
  }

  void judge_access(const Function& function, const Instruction& instruction) {
    const auto addressed = [&](std::size_t i) {
      return i < instruction.operands.size() ? origins(function, instruction.operands[i])
                                             : Origins();
    };
    const bool is_own = is_shared_or_local(instruction);
    switch (instruction.opcode) {
      case Opcode::kCp:
        if (!instruction.modifiers.empty()) judge_copy(instruction, addressed);
        break;
      case Opcode::kAtom:
      case Opcode::kRed:
        if (has_modifier(instruction, "add") &&
            has_any(instruction, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"})) {
          facts_.unordered_sum = instruction.spelling;
        }
        if (!is_own) judge_atomic(instruction, addressed);
        break;
      case Opcode::kLd:
      case Opcode::kLdu:
        if (!is_own) judge_load(instruction, addressed);
        break;
      case Opcode::kSt:
        if (!is_own) judge_store(instruction, addressed);
        break;
      case Opcode::kWmma:
        if (is_own) break;
        if (has_modifier(instruction, "load")) {
          judge_load(instruction, addressed);
        } else if (has_modifier(instruction, "store")) {
          judge_store(instruction, addressed);
        }
        break;
      case Opcode::kTex:
      case Opcode::kTld4:
      case Opcode::kSuld:
      case Opcode::kSust:
      case Opcode::kSured:
        judge_object(function, instruction);
        break;
      case Opcode::kMembar:
      case Opcode::kFence:
        if (has_any(instruction, {"gl", "gpu", "sys"})) depends(instruction, "a fence of the grid");
        break;
      default:
        if (instruction.opcode == Opcode::kMapa || has_modifier(instruction, "cluster"))
          depends(instruction, "CTAs of a cluster work together");
    }
  }

  /// Handles an access through a texture or surface object, which PTX names first in the address.
  void judge_object(const Function& function, const Instruction& instruction) {
    const auto address = std::ranges::find(instruction.operands, Operand::Kind::kAddress,
                                           [](const Operand& operand) { return operand.kind; });
    if (address == instruction.operands.end() || address->elements.empty()) return;
    const bool is_texture = instruction.opcode == Opcode::kTex;
    const int dimensions = !is_texture                       ? 0
                           : has_modifier(instruction, "1d") ? 1
                           : has_modifier(instruction, "2d") ? 2
                                                             : 0;
    each(origins(function, address->elements[0]), [&](ParameterUse& use) {
      use.texture = std::max(use.texture, dimensions);
      use.is_other_object |= dimensions == 0;
    });
    if (dimensions == 0) {
      depends(instruction,
              "surfaces, and textures of other dimensions than one and two, are not supported");
    }
  }

  void judge_atomic(const Instruction& instruction, const auto& addressed) {
    const Origins target = addressed(instruction.opcode == Opcode::kAtom ? 1 : 0);
    load(target);
    store(target);
    depends(instruction, "an atomic operation on global memory");
  }

  void judge_load(const Instruction& instruction, const auto& addressed) {
    load(addressed(1));
    if (has_any(instruction, {"volatile", "acquire", "relaxed"}))
      depends(instruction, "reads what other CTAs may be writing");
  }

  void judge_store(const Instruction& instruction, const auto& addressed) {
    store(addressed(0));
    if (has_any(instruction, {"volatile", "release", "relaxed"}))
      depends(instruction, "writes what other CTAs may be reading");
  }

  /// Handles copies: cp.async reads global memory; bulk copies and reductions may read or write it,
  /// and their first operand is the target. A prefetch does not count as a read.
  void judge_copy(const Instruction& instruction, const auto& addressed) {
    if (has_modifier(instruction, "prefetch")) return;
    if (has_modifier(instruction, "reduce")) {
      load(addressed(0));
      store(addressed(0));
      depends(instruction, "a reduction into memory");
    } else if (has_modifier(instruction, "bulk")) {
      const auto target = std::ranges::find_if(instruction.modifiers, [](const auto& modifier) {
        return modifier == "global" || modifier.starts_with("shared");
      });
      if (target != instruction.modifiers.end() && *target == "global") {
        store(addressed(0));
      } else {
        load(addressed(1));
      }
    } else {
      load(addressed(1));
    }
  }

  /// Derives facts from the name of a special register, such as %tid.y, or of a variable of the
  /// module.
  void name(const Operand& symbol, const Instruction& instruction) {
    const auto widen = [](int& dimensions, int used) { dimensions = std::max(dimensions, used); };
    widen(facts_.block_dimensions, dimension_of(symbol.name, {"%tid", "%ntid"}));
    widen(facts_.grid_dimensions, dimension_of(symbol.name, {"%ctaid", "%nctaid"}));
    const auto variable =
        std::find_if(module_.variables.begin(), module_.variables.end(),
                     [&](const ptx::Variable& candidate) { return candidate.name == symbol.name; });
    if (variable == module_.variables.end() || symbol.variable >= 0) return;
    if (variable->space == Space::kShared && variable->is_extern) facts_.has_dynamic_shared = true;
    if (variable->space == Space::kGlobal && variable->initial.empty()) {
      depends(instruction,
              "the variable " + variable_name(variable->name) + " is shared by all CTAs");
    }
    if (variable->space != Space::kConst || !named_.insert(variable->name).second) return;
    facts_.constants.push_back(
        {variable_name(variable->name), variable->bytes, !variable->initial.empty()});
  }

  const ptx::Module& module_;
  const Function* entry_ = nullptr;
  std::vector<const Function*> reached_;
  std::map<std::pair<const Function*, int>, Origins> registers_;
  Origins escaped_;  ///< parameters that were stored or passed to a function (see follow())
  bool has_changed_ = false;
  std::set<std::string> named_;
  PtxFacts facts_;
};

}  // namespace

PtxFacts ptx_facts(std::string_view ptx, const std::string& symbol) {
  try {
    return Reader(ptx::parse_ptx(ptx), symbol).read();
  } catch (const ptx::PtxError& error) {
    throw InputError(std::string("the compiled code cannot be read: ") + error.what());
  } catch (const std::out_of_range&) {
    throw InputError("the compiled code cannot be read: an instruction lacks an operand");
  }
}

PtxFacts joined(PtxFacts facts, const PtxFacts& other) {
  for (std::size_t i = 0; i < std::min(facts.parameters.size(), other.parameters.size()); ++i) {
    ParameterUse& one = facts.parameters[i];
    const ParameterUse& two = other.parameters[i];
    one.is_used |= two.is_used;
    one.is_address |= two.is_address;
    one.is_loaded |= two.is_loaded;
    one.is_stored |= two.is_stored;
    one.texture = std::max(one.texture, two.texture);
    one.is_other_object |= two.is_other_object;
  }
  for (const ConstantUse& constant : other.constants) {
    const bool is_known = std::ranges::any_of(
        facts.constants, [&](const ConstantUse& known) { return known.name == constant.name; });
    if (!is_known) facts.constants.push_back(constant);
  }
  facts.block_dimensions = std::max(facts.block_dimensions, other.block_dimensions);
  facts.grid_dimensions = std::max(facts.grid_dimensions, other.grid_dimensions);
  facts.has_dynamic_shared |= other.has_dynamic_shared;
  if (facts.dependence.empty()) facts.dependence = other.dependence;
  if (facts.unordered_sum.empty()) facts.unordered_sum = other.unordered_sum;
  return facts;
}

}  // namespace evo
