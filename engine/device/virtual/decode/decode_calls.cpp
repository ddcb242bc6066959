#include <algorithm>

#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_system_calls.hpp"

// Decodes calls: inlines functions of the module; vprintf and __assertfail become instructions.

namespace evo::ptx {
namespace {

constexpr std::size_t kMaxCalls = 1U << 13;  // limit of calls when all functions are inlined

/// A function that the CUDA driver provides, with the sizes in bytes of its parameters and result.
struct SystemFunction {
  std::string_view name;
  Handler handler;
  std::vector<std::uint64_t> parameters;
  std::uint64_t result;  ///< 0: no result
};

const SystemFunction* find_system_function(std::string_view name) {
  // The PTX Writer's Guide to Interoperability specifies vprintf and __assertfail in "System
  // Calls".
  static const std::vector<SystemFunction> functions = {
      {"vprintf", exec_print, {8, 8}, 4},
      {"__assertfail", exec_assert_fail, {8, 8, 4, 8, 8}, 0},
  };
  const auto found = std::ranges::find(functions, name, &SystemFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace

std::uint32_t DecodeContext::call_variable(const Operand& operand, std::uint64_t bytes) {
  if (operand.kind != Operand::Kind::kSymbol || operand.variable < 0)
    unsupported("argument that is not a .param variable");
  const VariableAddress found = variable_address(operand);
  const auto& variable = frame_->function->variables[static_cast<std::size_t>(operand.variable)];
  if (found.space != Space::kLocal || found.is_kernel_parameter || variable.bytes != bytes ||
      variable.align < bytes) {
    fail("call of '" + current_->operands[1].name + "': '" + operand.name +
         "' is not an aligned .param variable of " + std::to_string(bytes) + " bytes");
  }
  return static_cast<std::uint32_t>(found.offset);
}

/// Decodes a call of vprintf or __assertfail; returns false for other functions.
bool DecodeContext::decode_system_call(const Instruction& in) {
  const SystemFunction* function = find_system_function(in.operands[1].name);
  if (function == nullptr) return false;
  const auto& results = in.operands[0].elements;
  const auto& arguments = in.operands[2].elements;
  if (arguments.size() != function->parameters.size() ||
      results.size() > (function->result == 0 ? 0U : 1U)) {
    fail("call of '" + in.operands[1].name + "' with the wrong number of parameters or results");
  }
  SystemCall call;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    call.parameters.push_back(call_variable(arguments[i], function->parameters[i]));
  if (!results.empty()) {
    call.has_result = true;
    call.result = call_variable(results[0], function->result);
  }
  emit(function->handler,
       SystemCallOperands{static_cast<std::uint32_t>(program_.system_calls.size())}, Pipe::kControl,
       TaintRule::kOwn);
  program_.system_calls.push_back(std::move(call));
  return true;
}

void DecodeContext::decode_call(const Instruction& in, int depth) {
  const Operand& callee = in.operands[1];
  if (++calls_ > kMaxCalls)
    fail("more than " + std::to_string(kMaxCalls) + " calls when all functions are inlined");
  if (callee.kind != Operand::Kind::kSymbol || in.operands.size() > 3) unsupported("indirect call");
  const auto found = module_.functions.find(callee.name);
  if (found == module_.functions.end() || !found->second.has_body) {
    if (decode_system_call(in)) return;
    unsupported("call of '" + callee.name + "', which has no body in this module");
  }
  if (in.guard >= 0) unsupported("guarded call");
  const Function& function = found->second;
  Frame frame;
  frame.function = &function;
  frame.is_entry = false;
  frame.variable_address.resize(function.variables.size(), -1);
  const auto bind = [&](const std::vector<int>& formal, const std::vector<Operand>& actual) {
    if (formal.size() != actual.size())
      fail("call of '" + callee.name + "' with the wrong number of parameters or results");
    for (std::size_t i = 0; i < formal.size(); ++i) {
      if (actual[i].kind != Operand::Kind::kSymbol || actual[i].variable < 0)
        unsupported("argument that is not a .param variable");
      frame.variable_address[static_cast<std::size_t>(formal[i])] =
          variable_address(actual[i]).offset;
    }
  };
  bind(function.parameters, in.operands[2].elements);
  bind(function.results, in.operands[0].elements);
  decode_function(frame, depth + 1);
}

}  // namespace evo::ptx
