// Store: candidates that were green and failed later.

#include "db/connection.hpp"
#include "db/store.hpp"

namespace evo {

void Store::record_withdrawal(RunId run, const WithdrawalRecord& record) {
  connection_->write([&] {
    Query query = connection_->query(
        "INSERT INTO withdrawal (candidate_id, generation, gate, reason, detail)"
        " SELECT c.id, ?, ?, ?, ? FROM candidate c"
        " WHERE c.id = ? AND c.run_id = ? AND c.duplicate_of IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM rejection x WHERE x.candidate_id = c.id)");
    query.bind(record.generation).bind(to_string(record.why.gate)).bind(record.why.reason);
    query.bind(record.why.detail).bind(record.candidate).bind(run).run();
    if (connection_->database().getChanges() != 1) {
      connection_->fail("candidate " + std::to_string(record.candidate) +
                        " cannot be withdrawn from run " + std::to_string(run) +
                        ": it is not a green, first candidate of that run");
    }
  });
}

std::vector<WithdrawalRecord> Store::withdrawals(RunId run) const {
  return connection_->read([&] {
    Query query = connection_->query(
        "SELECT w.candidate_id, w.generation, w.gate, w.reason, w.detail FROM withdrawal w"
        " JOIN candidate c ON c.id = w.candidate_id WHERE c.run_id = ? ORDER BY w.candidate_id");
    query.bind(run);
    std::vector<WithdrawalRecord> records;
    while (query.next()) {
      records.push_back({query.integer(0), query.small(1),
                         Rejection{gate_from_string(query.text(2)), query.text(3), query.text(4)}});
    }
    return records;
  });
}

}  // namespace evo
