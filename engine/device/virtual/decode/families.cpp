#include "engine/device/virtual/decode/families.hpp"

namespace evo::ptx {

Decoder decoder_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBra:
      return decode_branch;
    case Opcode::kBrx:
      return decode_indexed_branch;
    case Opcode::kRet:
      return decode_return;
    case Opcode::kExit:
    case Opcode::kTrap:
    case Opcode::kNanosleep:
    case Opcode::kPmevent:
    case Opcode::kGriddepcontrol:
      return decode_control;
    case Opcode::kActivemask:
      return decode_activemask;
    case Opcode::kMov:
      return decode_move;
    case Opcode::kCvta:
      return decode_cvta;
    case Opcode::kCvt:
      return decode_convert;
    case Opcode::kSetp:
    case Opcode::kSet:
      return decode_compare;
    case Opcode::kLd:
    case Opcode::kLdu:
      return decode_load;
    case Opcode::kSt:
      return decode_store;
    case Opcode::kCreatepolicy:
      return decode_policy;
    case Opcode::kMembar:
    case Opcode::kFence:
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
    case Opcode::kApplypriority:
      return decode_fence;
    case Opcode::kAtom:
    case Opcode::kRed:
      return decode_atomic;
    case Opcode::kCp:
      return decode_cp_async;
    case Opcode::kMbarrier:
      return decode_mbarrier;
    case Opcode::kBar:
    case Opcode::kBarrier:
      return decode_barrier;
    case Opcode::kMapa:
      return decode_mapa;
    case Opcode::kGetctarank:
      return decode_getctarank;
    case Opcode::kIsspacep:
      return decode_isspacep;
    case Opcode::kShfl:
      return decode_shuffle;
    case Opcode::kVote:
      return decode_vote;
    case Opcode::kMatch:
      return decode_match;
    case Opcode::kRedux:
      return decode_redux;
    case Opcode::kElect:
      return decode_elect;
    case Opcode::kTex:
      return decode_texture;
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
      return decode_matrix_move;
    case Opcode::kMovmatrix:
      return decode_movmatrix;
    case Opcode::kMma:
      return decode_mma;
    case Opcode::kWmma:
      return decode_wmma;
    case Opcode::kWgmma:
      return decode_wgmma;
    case Opcode::kSetmaxnreg:
      return decode_setmaxnreg;
    default:
      return decode_alu;
  }
}

}  // namespace evo::ptx
