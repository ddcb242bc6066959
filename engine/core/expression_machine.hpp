#pragma once

#include <muParserBase.h>

#include <string>

namespace evo {

/// muParser with the functions that translated expressions use, and nothing else: no constants and
/// variables but v0, v1, …, no assignment that the grammar lets through.
///
/// A function that has no value for its arguments (a division by zero, say) does not throw through
/// muParser: it leaves a message that take_trouble() returns.
class ExpressionMachine final : public mu::ParserBase {
 public:
  ExpressionMachine();

  void InitCharSets() override;
  void InitFun() override;
  void InitConst() override {}
  void InitOprt() override {}

  /// Evaluates. `trouble`: why there is no value, or null.
  struct Outcome {
    double value = 0;
    const char* trouble = nullptr;
  };
  [[nodiscard]] Outcome run() const;
};

}  // namespace evo
