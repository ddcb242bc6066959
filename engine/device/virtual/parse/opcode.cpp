#include "engine/device/virtual/parse/opcode.hpp"

#include <algorithm>
#include <array>

namespace evo::ptx {
namespace {

struct Entry {
  std::string_view name;
  Opcode opcode;
};

constexpr std::array kOpcodes = {
    Entry{"abs", Opcode::kAbs},
    Entry{"activemask", Opcode::kActivemask},
    Entry{"add", Opcode::kAdd},
    Entry{"addc", Opcode::kAddc},
    Entry{"and", Opcode::kAnd},
    Entry{"applypriority", Opcode::kApplypriority},
    Entry{"atom", Opcode::kAtom},
    Entry{"bar", Opcode::kBar},
    Entry{"barrier", Opcode::kBarrier},
    Entry{"bfe", Opcode::kBfe},
    Entry{"bfi", Opcode::kBfi},
    Entry{"bfind", Opcode::kBfind},
    Entry{"bra", Opcode::kBra},
    Entry{"brev", Opcode::kBrev},
    Entry{"brx", Opcode::kBrx},
    Entry{"call", Opcode::kCall},
    Entry{"clz", Opcode::kClz},
    Entry{"cnot", Opcode::kCnot},
    Entry{"copysign", Opcode::kCopysign},
    Entry{"cos", Opcode::kCos},
    Entry{"cp", Opcode::kCp},
    Entry{"cvt", Opcode::kCvt},
    Entry{"cvta", Opcode::kCvta},
    Entry{"discard", Opcode::kDiscard},
    Entry{"div", Opcode::kDiv},
    Entry{"dp2a", Opcode::kDp2a},
    Entry{"dp4a", Opcode::kDp4a},
    Entry{"elect", Opcode::kElect},
    Entry{"ex2", Opcode::kEx2},
    Entry{"exit", Opcode::kExit},
    Entry{"fence", Opcode::kFence},
    Entry{"fma", Opcode::kFma},
    Entry{"griddepcontrol", Opcode::kGriddepcontrol},
    Entry{"ld", Opcode::kLd},
    Entry{"ldmatrix", Opcode::kLdmatrix},
    Entry{"ldu", Opcode::kLdu},
    Entry{"lg2", Opcode::kLg2},
    Entry{"lop3", Opcode::kLop3},
    Entry{"mad", Opcode::kMad},
    Entry{"mad24", Opcode::kMad24},
    Entry{"mapa", Opcode::kMapa},
    Entry{"match", Opcode::kMatch},
    Entry{"max", Opcode::kMax},
    Entry{"mbarrier", Opcode::kMbarrier},
    Entry{"membar", Opcode::kMembar},
    Entry{"min", Opcode::kMin},
    Entry{"mma", Opcode::kMma},
    Entry{"mov", Opcode::kMov},
    Entry{"movmatrix", Opcode::kMovmatrix},
    Entry{"mul", Opcode::kMul},
    Entry{"mul24", Opcode::kMul24},
    Entry{"nanosleep", Opcode::kNanosleep},
    Entry{"neg", Opcode::kNeg},
    Entry{"not", Opcode::kNot},
    Entry{"or", Opcode::kOr},
    Entry{"pmevent", Opcode::kPmevent},
    Entry{"popc", Opcode::kPopc},
    Entry{"prefetch", Opcode::kPrefetch},
    Entry{"prefetchu", Opcode::kPrefetchu},
    Entry{"prmt", Opcode::kPrmt},
    Entry{"rcp", Opcode::kRcp},
    Entry{"red", Opcode::kRed},
    Entry{"redux", Opcode::kRedux},
    Entry{"rem", Opcode::kRem},
    Entry{"ret", Opcode::kRet},
    Entry{"rsqrt", Opcode::kRsqrt},
    Entry{"sad", Opcode::kSad},
    Entry{"selp", Opcode::kSelp},
    Entry{"set", Opcode::kSet},
    Entry{"setmaxnreg", Opcode::kSetmaxnreg},
    Entry{"setp", Opcode::kSetp},
    Entry{"shf", Opcode::kShf},
    Entry{"shfl", Opcode::kShfl},
    Entry{"shl", Opcode::kShl},
    Entry{"shr", Opcode::kShr},
    Entry{"sin", Opcode::kSin},
    Entry{"slct", Opcode::kSlct},
    Entry{"sqrt", Opcode::kSqrt},
    Entry{"st", Opcode::kSt},
    Entry{"stmatrix", Opcode::kStmatrix},
    Entry{"sub", Opcode::kSub},
    Entry{"subc", Opcode::kSubc},
    Entry{"suld", Opcode::kSuld},
    Entry{"sured", Opcode::kSured},
    Entry{"sust", Opcode::kSust},
    Entry{"tanh", Opcode::kTanh},
    Entry{"tex", Opcode::kTex},
    Entry{"tld4", Opcode::kTld4},
    Entry{"trap", Opcode::kTrap},
    Entry{"vote", Opcode::kVote},
    Entry{"wgmma", Opcode::kWgmma},
    Entry{"wmma", Opcode::kWmma},
    Entry{"xor", Opcode::kXor},
};
static_assert(std::ranges::is_sorted(kOpcodes, {}, &Entry::name));

}  // namespace

Opcode opcode_from_name(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kOpcodes, name, {}, &Entry::name);
  return found != kOpcodes.end() && found->name == name ? found->opcode : Opcode::kOther;
}

}  // namespace evo::ptx
