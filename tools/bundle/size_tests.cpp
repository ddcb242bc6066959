#include "tools/bundle/size_tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "engine/core/expression.hpp"
#include "engine/core/formulas.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/ptx/parser.hpp"
#include "tools/bundle/size_operation.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using Kind = Operand::Kind;

/// A value that depends on shape variables alone; nullopt if it may differ between threads or comes
/// from memory.
using Known = std::optional<SizeValue>;

/// The values that are the same in all threads of a launch.
struct KnownToAll {
  std::map<std::pair<std::size_t, std::int64_t>, SizeValue> scalars;  ///< by parameter, offset
  std::map<std::string, SizeValue, std::less<>> specials;             ///< by name, "%ntid.x"
};

std::vector<int> registers_in(const Operand& operand) {
  if (operand.kind == Kind::kRegister) return {operand.reg};
  std::vector<int> registers;
  for (const Operand& element : operand.elements) {
    const std::vector<int> inner = registers_in(element);
    registers.insert(registers.end(), inner.begin(), inner.end());
  }
  return registers;
}

bool is_one_of(Opcode opcode, std::initializer_list<Opcode> list) {
  return std::ranges::find(list, opcode) != list.end();
}

std::vector<int> written_by(const Instruction& its) {
  const bool writes_none =
      its.operands.empty() || its.operands[0].kind == Kind::kAddress ||
      is_one_of(its.opcode, {Opcode::kBar, Opcode::kBarrier, Opcode::kBrx, Opcode::kCall,
                             Opcode::kNanosleep, Opcode::kSetmaxnreg});
  return writes_none ? std::vector<int>{} : registers_in(its.operands[0]);
}

/// Whether the result of an instruction depends on memory or threads, not on shape variables alone.
bool is_of_memory_or_threads(Opcode opcode) {
  return is_one_of(
      opcode, {Opcode::kAtom, Opcode::kLd, Opcode::kLdu, Opcode::kLdmatrix, Opcode::kTex,
               Opcode::kTld4, Opcode::kSuld, Opcode::kMbarrier, Opcode::kActivemask, Opcode::kElect,
               Opcode::kMatch, Opcode::kCall, Opcode::kMapa, Opcode::kBar, Opcode::kBarrier});
}

/// Derives the values that one kernel computes from shape variables alone, and records the tests of
/// these values.
class SizeFlow {
 public:
  SizeFlow(const ptx::Function& function, const KnownToAll& known, std::set<SizeTest>& tests)
      : function_(function),
        known_(known),
        tests_(tests),
        values_(function.registers.size()),
        writers_(function.registers.size()) {
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      parameters_[function.parameters[i]] = i;
    }
    // A register that several instructions or a predicated instruction write may differ between
    // threads, so its value counts as unknown.
    for (const Instruction& its : function.body) {
      for (const int reg : written_by(its)) writers_.at(index(reg)) += its.guard >= 0 ? 2 : 1;
    }
    for (const int count : writers_) is_settled_.push_back(count != 1);
  }

  void run() {
    std::vector<bool> is_done(function_.body.size());
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (std::size_t i = 0; i < is_done.size(); ++i) {
        if (is_done[i] || !is_ready(function_.body[i])) continue;
        is_done[i] = true;
        is_new = true;
        take(function_.body[i]);
      }
    }
  }

 private:
  static std::size_t index(int reg) { return static_cast<std::size_t>(reg); }

  [[nodiscard]] std::size_t first_source(const Instruction& its) const {
    return written_by(its).empty() ? 0 : 1;
  }

  [[nodiscard]] bool is_ready(const Instruction& its) const {
    for (std::size_t i = first_source(its); i < its.operands.size(); ++i) {
      for (const int reg : registers_in(its.operands[i])) {
        if (!is_settled_[index(reg)]) return false;
      }
    }
    return true;
  }

  void take(const Instruction& its) {
    SizeOutcome outcome;
    if (its.opcode == Opcode::kLd && ptx_space(its) == "param") {
      outcome.result = scalar(its);
    } else if (its.opcode == Opcode::kSt) {
      note_stored(its);
    } else if (its.opcode == Opcode::kBrx) {
      note(source(its, its.operands[0]));
    } else if (!is_of_memory_or_threads(its.opcode)) {
      outcome = size_outcome(its, sources(its));
    }
    for (const SizeValue& test : outcome.tests) note(test);
    const std::vector<int> written = written_by(its);
    const bool is_one = written.size() == 1 || its.opcode == Opcode::kShfl;
    for (const int number : written) {
      const std::size_t reg = index(number);
      if (writers_[reg] == 1 && outcome.result) {
        values_[reg] = is_one ? *outcome.result : unwritten(*outcome.result, *outcome.result);
      }
      is_settled_[reg] = true;
    }
  }

  static std::string ptx_space(const Instruction& its) {
    for (const std::string& modifier : its.modifiers) {
      for (const char* space : {"param", "shared", "local", "global", "const"}) {
        if (modifier == space) return modifier;
      }
    }
    return "";
  }

  [[nodiscard]] Known scalar(const Instruction& its) const {
    if (its.operands[0].kind != Kind::kRegister || its.operands[1].elements.size() != 1) return {};
    const Operand& address = its.operands[1];
    const auto parameter = parameters_.find(address.elements[0].variable);
    if (parameter == parameters_.end()) return {};
    const auto found = known_.scalars.find({parameter->second, address.offset});
    return found == known_.scalars.end() ? Known() : found->second;
  }

  [[nodiscard]] Known source(const Instruction& its, const Operand& operand) const {
    switch (operand.kind) {
      case Kind::kRegister: {
        const Known& value = values_[index(operand.reg)];
        if (!value || !operand.negated) return value;
        return compared(*value, "==", size_constant(0));
      }
      case Kind::kInteger: {
        const auto type =
            its.modifiers.empty() ? std::nullopt : ptx::type_from_name(its.modifiers.back());
        return size_literal(operand.bits, type.value_or(ptx::Type::kNone));
      }
      case Kind::kFloat32:
      case Kind::kFloat64:
        return SizeValue{};
      case Kind::kSymbol: {
        const auto found = known_.specials.find(operand.name);
        return found == known_.specials.end() ? Known() : found->second;
      }
      default:
        return {};
    }
  }

  [[nodiscard]] std::vector<Known> sources(const Instruction& its) const {
    std::vector<Known> list;
    for (std::size_t i = first_source(its); i < its.operands.size(); ++i) {
      const Operand& operand = its.operands[i];
      if (operand.kind == Kind::kVector) {
        for (const Operand& element : operand.elements) list.push_back(source(its, element));
      } else {
        list.push_back(source(its, operand));
      }
    }
    return list;
  }

  /// Records a test without an expression if a value that depends on shape variables is written to
  /// shared or local memory or passed to a function, because the analysis does not follow the
  /// value.
  void note_stored(const Instruction& its) {
    const std::string space = ptx_space(its);
    if (space != "param" && space != "shared" && space != "local") return;
    for (const Known& value : sources(its)) {
      if (value) note(unwritten(*value, *value));
    }
  }

  void note(const Known& value) {
    if (value && value->depends())
      tests_.insert({value->text, value->variables, value->most, value->must_fit});
  }

  const ptx::Function& function_;
  const KnownToAll& known_;
  std::set<SizeTest>& tests_;
  std::map<int, std::size_t> parameters_;  ///< variable of the function → index of the parameter
  std::vector<Known> values_;
  std::vector<int> writers_;
  std::vector<bool> is_settled_;
};

/// The value of an expression of the manifest, with macros replaced by their values; nullopt if the
/// expression depends on more than shape variables.
Known value_of(const OrderedJson& formula, const Formulas& macros,
               const std::set<std::string>& sizes) {
  const std::string text = with_formulas(formula.at("expression").get<std::string>(), macros);
  const Expression expression(text);
  const std::vector<std::string>& names = expression.variables();
  if (!std::ranges::all_of(names, [&](const auto& name) { return sizes.contains(name); })) {
    return std::nullopt;  // depends on the number of SMs
  }
  if (names.empty()) {
    const double number = expression.evaluate(std::map<std::string, double>{});
    if (number != std::floor(number) || std::fabs(number) >= 0x1p53) return SizeValue{};
    return size_constant(static_cast<std::int64_t>(number));
  }
  SizeValue value;
  value.grows = names.size() == 1 && names.front() == text;
  value.text = value.grows ? text : "(" + text + ")";
  value.variables = {names.begin(), names.end()};
  return value;
}

void put_scalars(const OrderedJson& manifest, const std::vector<std::string>& names,
                 const Formulas& macros, const std::set<std::string>& sizes, KnownToAll& known) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto argument =
        std::ranges::find_if(manifest.at("arguments"),
                             [&](const OrderedJson& its) { return its.at("name") == names[i]; });
    if (argument == manifest.at("arguments").end() || argument->at("direction") != "scalar") {
      continue;
    }
    const OrderedJson fields = argument->value("fields", OrderedJson::array({*argument}));
    std::size_t offset = 0;
    for (const OrderedJson& field : fields) {
      const Dtype dtype = dtype_from_string(field.at("dtype").get<std::string>());
      const std::size_t bytes = size_of(dtype);
      offset = (offset + bytes - 1) / bytes * bytes;
      Known value = value_of(field.at("value"), macros, sizes);
      if (value && is_floating(dtype)) value = unwritten(*value, *value);
      if (value) known.scalars[{i, static_cast<std::int64_t>(offset)}] = *value;
      offset += bytes;
    }
  }
}

/// Adds the values of %nctaid and %ntid. On an axis with a single CTA or thread, also adds the
/// index (%ctaid or %tid), which is 0.
void put_specials(const OrderedJson& launch, const Formulas& macros,
                  const std::set<std::string>& sizes, KnownToAll& known) {
  struct Axes {
    const char* key;
    const char* size;
    const char* number;
  };
  const std::array<Axes, 2> all = {{{"grid", "%nctaid", "%ctaid"}, {"block", "%ntid", "%tid"}}};
  for (const Axes& axes : all) {
    const OrderedJson list = launch.value(axes.key, OrderedJson::array());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string suffix = std::string(".") + "xyz"[axis];
      const Known value =
          axis < list.size() ? value_of(list[axis], macros, sizes) : size_constant(1);
      if (!value) continue;
      known.specials[axes.size + suffix] = *value;
      if (value->constant == 1) known.specials[axes.number + suffix] = size_constant(0);
    }
  }
}

}  // namespace

std::set<SizeTest> size_tests(const std::string& ptx, const OrderedJson& manifest,
                              const std::set<std::string>& variables) {
  Formulas macros;
  for (const auto& [name, value] : manifest.at("macros").items()) {
    if (!variables.contains(name)) macros[name] = formula_of(value.get<double>());
  }
  std::vector<std::string> names;
  for (const OrderedJson& argument : manifest.at("arguments")) names.push_back(argument.at("name"));
  std::set<SizeTest> tests;
  try {
    const ptx::Module module = ptx::parse_ptx(ptx);
    const OrderedJson steps = manifest.value("steps", OrderedJson::array({manifest}));
    for (const OrderedJson& step : steps) {
      KnownToAll known;
      const bool has_own = step.contains("runs");
      put_scalars(manifest, has_own ? step.at("arguments").get<std::vector<std::string>>() : names,
                  macros, variables, known);
      put_specials(step.value("launch", OrderedJson::object()), macros, variables, known);
      const auto function = module.functions.find(step.at("entry").get<std::string>());
      if (function == module.functions.end()) throw ptx::PtxError("no such entry", 0);
      SizeFlow(function->second, known, tests).run();
    }
  } catch (const ptx::PtxError&) {
    tests.insert({"", variables, 0, {}});
  }
  return tests;
}

}  // namespace evo
