#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evo::ptx {

/// Data types of PTX (`.f16x2`, `.e4m3x2` …). kNone: no type.
enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64,
  kTf32,
  kE4m3,
  kE5m2,
  kE4m3x2,
  kE5m2x2,
};

/// The type that a modifier names ("u32", without the dot); nullopt if the modifier names no type.
[[nodiscard]] std::optional<Type> type_from_name(std::string_view name);

/// The name of a type, which is the inverse of type_from_name(): "u32" for kU32; empty for kNone.
[[nodiscard]] std::string_view name_of(Type type);

/// The width in bits of a value of the type; 1 for predicates, 0 for kNone.
[[nodiscard]] int bit_width(Type type);

[[nodiscard]] inline bool is_signed(Type type) { return type >= Type::kS8 && type <= Type::kS64; }
[[nodiscard]] inline bool is_float(Type type) { return type >= Type::kF16 && type <= Type::kF64; }

/// The state spaces of PTX.
enum class Space : std::uint8_t {
  kGeneric,
  kGlobal,
  kConst,
  kShared,         ///< of the CTA
  kSharedCluster,  ///< of all CTAs of the cluster
  kLocal,
  kParam
};

/// The position in a source file from which a line of PTX was compiled, as given by `.loc`; line 0
/// if unknown.
struct SourceLocation {
  int file = 0;
  int line = 0;
  int inlined_at = -1;  ///< index into call sites: where the containing function was inlined
};

/// Thrown for PTX that cannot be parsed or that the virtual GPU does not support. The error message
/// describes the error, followed by "at line N" and the position in the source file, as far as they
/// are known. VirtualDevice::load() catches PtxError and returns a Fault.
class PtxError : public std::runtime_error {
 public:
  /// `line`: 0 if unknown. `source`: the position in the source file, which is appended to the
  /// error message.
  PtxError(const std::string& what, int line, const std::string& source = {})
      : std::runtime_error(what + (line > 0 ? " at line " + std::to_string(line) : "") + source),
        line_(line) {}
  [[nodiscard]] int line() const { return line_; }

 private:
  int line_;
};

}  // namespace evo::ptx
