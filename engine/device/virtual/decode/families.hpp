#pragma once

#include "engine/ptx/opcode.hpp"

namespace evo::ptx {

class DecodeContext;
class Modifiers;

/// A function that decodes the context's current instruction. Each family of instructions, such as
/// loads, has one Decoder.
using Decoder = void (*)(DecodeContext&);
/// The decoder of an opcode; for an opcode that belongs to no family, the decoder looks up the
/// instruction's spelling in alu_table().
[[nodiscard]] Decoder decoder_of(Opcode opcode);

void decode_branch(DecodeContext& context);
void decode_indexed_branch(DecodeContext& context);
void decode_return(DecodeContext& context);
void decode_control(DecodeContext& context);
void decode_activemask(DecodeContext& context);
void decode_move(DecodeContext& context);
void decode_cvta(DecodeContext& context);
void decode_convert(DecodeContext& context);
void decode_compare(DecodeContext& context);
void decode_alu(DecodeContext& context);
void decode_load(DecodeContext& context);
void decode_store(DecodeContext& context);
void decode_policy(DecodeContext& context);
void decode_fence(DecodeContext& context);
void decode_atomic(DecodeContext& context);
void decode_cp_async(DecodeContext& context);
/// Decodes cp.async.bulk. The caller of decode_bulk() has already consumed "async" and "bulk" from
/// `modifiers`.
void decode_bulk(DecodeContext& context, Modifiers& modifiers);
void decode_mbarrier(DecodeContext& context);
void decode_barrier(DecodeContext& context);
/// Decodes barrier.cluster. The caller has already consumed "cluster" from `modifiers`.
void decode_cluster_barrier(DecodeContext& context, Modifiers& modifiers);
/// Decodes st.async. The caller has already consumed "async" from `modifiers`.
void decode_async_store(DecodeContext& context, Modifiers& modifiers);
void decode_mapa(DecodeContext& context);
void decode_getctarank(DecodeContext& context);
void decode_isspacep(DecodeContext& context);
void decode_shuffle(DecodeContext& context);
void decode_vote(DecodeContext& context);
void decode_match(DecodeContext& context);
void decode_redux(DecodeContext& context);
void decode_elect(DecodeContext& context);
void decode_texture(DecodeContext& context);
void decode_matrix_move(DecodeContext& context);
void decode_movmatrix(DecodeContext& context);
void decode_mma(DecodeContext& context);
void decode_wmma(DecodeContext& context);
void decode_wgmma(DecodeContext& context);
void decode_setmaxnreg(DecodeContext& context);

}  // namespace evo::ptx
