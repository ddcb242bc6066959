// Store: energy and profiles of candidates that are there.

#include "db/card_rows.hpp"
#include "db/connection.hpp"
#include "db/store.hpp"

namespace evo {
namespace {

/// `write` beside a candidate that was timed.
template <typename Write>
void write_beside(Connection& db, CandidateId candidate, const Write& write) {
  db.write([&] {
    {
      Query query = db.query("SELECT 1 FROM timing WHERE candidate_id = ?");
      query.bind(candidate);
      if (!query.next()) {
        db.fail("candidate " + std::to_string(candidate) + " has no timing of its own");
      }
    }
    write();
  });
}

}  // namespace

void Store::record_energy(CandidateId candidate, const Energy& energy) {
  write_beside(*connection_, candidate,
               [&] { replace_energy(*connection_, candidate, true, energy); });
}

void Store::record_profile(CandidateId candidate, const ProfileRecord& profile) {
  write_beside(*connection_, candidate, [&] { replace_profile(*connection_, candidate, profile); });
}

}  // namespace evo
