#pragma once

#include <cstdint>

#include "db/records.hpp"

namespace evo {

class Connection;

/// What is sealed: a row with all that belongs to it and is not changed later.
struct Sealed {
  enum class Kind {
    kRun,          ///< run without its status, its device, problem and space
    kEvaluation,   ///< candidate, checks, timing, rejection, and its compilation without texts
    kCompilation,  ///< its log, source, PTX and cubin
    kGeneration,   ///< generation and its elite
  };
  Kind kind = Kind::kRun;
  std::int64_t id = 0;
  int part = 0;
};

/// Writes the digest of what is stored now; in the transaction that stored it. Keeps the one that
/// is there.
void seal(Connection& db, const Sealed& what);

/// The same for what was changed on purpose.
void seal_again(Connection& db, const Sealed& what);

/// The same for a compilation whose texts are at hand.
void seal_compilation(Connection& db, CompilationId id, const CompilationTexts& texts);

/// Throws DbError when what is stored is not what was sealed. What was never sealed passes: rows of
/// databases before version 3.
void require_intact(Connection& db, const Sealed& what);

/// The same for everything that a table about one candidate shows: its run, itself, the one it is a
/// duplicate of, and their compilation with its texts and its cubin.
void require_candidate_intact(Connection& db, CandidateId candidate);

}  // namespace evo
