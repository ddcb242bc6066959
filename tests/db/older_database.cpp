#include "tests/db/older_database.hpp"

#include <random>
#include <vector>

#include "db/connection.hpp"
#include "db/migration_functions.hpp"
#include "tests/db/sample.hpp"

namespace evo::sample {
namespace {

std::vector<std::string> names(SQLite::Database& database, const std::string& sql) {
  SQLite::Statement query(database, sql);
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

/// The rows that both have, column by column.
void copy_rows(SQLite::Database& from, SQLite::Database& to) {
  for (const std::string& table :
       names(to, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")) {
    std::string columns;
    std::string marks;
    for (const std::string& column :
         names(to, "SELECT name FROM pragma_table_info('" + table + "')")) {
      const bool text = column == "log" || column == "source" || column == "ptx";
      const bool packed = table == "compilation" && (text || column == "cubin");
      columns += (columns.empty() ? "" : ", ") + (packed ? "'' AS " + column : column);
      marks += marks.empty() ? "?" : ",?";
    }
    SQLite::Statement read(from, "SELECT " + columns + " FROM " + table);
    SQLite::Statement write(to, "INSERT INTO " + table + " VALUES (" + marks + ")");
    while (read.executeStep()) {
      for (int i = 0; i < read.getColumnCount(); ++i) {
        const SQLite::Column value = read.getColumn(i);
        if (value.isNull()) {
          write.bind(i + 1);
        } else if (value.isInteger()) {
          write.bind(i + 1, value.getInt64());
        } else if (value.isFloat()) {
          write.bind(i + 1, value.getDouble());
        } else if (value.isBlob()) {
          write.bind(i + 1, value.getBlob(), value.getBytes());
        } else {
          write.bind(i + 1, value.getString());
        }
      }
      write.exec();
      write.reset();
    }
  }
}

/// Of the compilations, where they still stand beside the other columns.
void put_texts(SQLite::Database& older, int compilations) {
  SQLite::Statement texts(
      older, "UPDATE compilation SET log = ?, source = ?, ptx = ?, cubin = ? WHERE id = ?");
  for (int i = 0; i < compilations; ++i) {
    const CompilationRecord record = filled_compilation(i);
    texts.bind(1, record.log);
    texts.bind(2, record.source);
    texts.bind(3, record.ptx);
    texts.bind(4, record.cubin.data(), static_cast<int>(record.cubin.size()));
    if (record.cubin.empty()) texts.bind(4, "", 0);
    texts.bind(5, i + 1);
    texts.exec();
    texts.reset();
  }
}

}  // namespace

CompilationRecord filled_compilation(int place) {
  const std::string name = std::to_string(place);
  if (place == 2) return failed_compilation(name);
  CompilationRecord record = compilation(name);
  if (place == 3) {
    record.log = record.ptx = record.source = record.cubin = "";
    return record;
  }
  std::mt19937 random(static_cast<unsigned>(place));
  record.source = "// one source\n" + std::string(30'000, 's');
  for (int i = 0; i < 4'000; ++i)
    record.ptx += "mov.u32 %r" + std::to_string(random() % 500) + "\n";
  for (int i = 0; i < 20'000; ++i) record.cubin += static_cast<char>(random() % 16);
  return record;
}

void fill(Store& store, int compilations) {
  const RunId run = store.start_run(run_info());
  std::vector<CandidateId> green_ones;
  for (int i = 0; i < compilations; ++i) {
    const CompilationRecord record = filled_compilation(i);
    const CompilationId id = store.put_compilation(record);
    EvaluationRecord evaluation = green(0, i, id, 10 + i);
    if (!record.ok) evaluation = rejected(0, i, {Gate::kBuild, record.error});
    evaluation.compilation = id;
    const CandidateId candidate = store.record_evaluation(run, evaluation);
    if (record.ok) green_ones.push_back(candidate);
  }
  store.record_evaluation(run, duplicate(0, compilations, green_ones[0]));
  store.record_generation(run, {.number = 0, .elite = {{green_ones[0], 10}, {green_ones[1], 11}}});
  store.record_withdrawal(run, {green_ones[0], 1, {Gate::kTiming, "faulted in a pair", "detail"}});
  store.finish_run(run, RunStatus::kInterrupted);
}

void make_older_database(const std::filesystem::path& file, int version, int compilations) {
  Store now = Store::in_memory();
  fill(now, compilations);
  SQLite::Database older(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  add_migration_functions(older);
  older.exec("PRAGMA journal_mode = WAL; BEGIN");
  for (const auto step : migrations().first(static_cast<std::size_t>(version))) {
    older.exec(std::string(step));
  }
  copy_rows(now.connection().database(), older);
  constexpr int kFirstWithPackedTexts = 4;
  if (version < kFirstWithPackedTexts) put_texts(older, compilations);
  older.exec("PRAGMA application_id = " + std::to_string(kApplicationId) +
             "; PRAGMA user_version = " + std::to_string(version) + "; COMMIT");
}

}  // namespace evo::sample
