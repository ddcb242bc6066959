#include "db/artifacts.hpp"

#include "db/connection.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

std::string unpack(Connection& db, const std::string& frame, CompilationId id, const char* what) {
  std::optional<std::string> content = db.frames().unpack(frame);
  if (!content) {
    db.fail(
        "is damaged: the {} of compilation {} differs from the stored checksum; restore a backup, "
        "or name another file by --db",
        what, id);
  }
  return std::move(*content);
}

std::optional<std::int64_t> find_source(Connection& db, const std::string& key) {
  return db.query("SELECT id FROM source WHERE key = ?", key).first<std::int64_t>();
}

}  // namespace

PackedArtifacts pack(Connection& db, const CompilationRecord& record) {
  ZstdFrames& frames = db.frames();
  const auto frame_of = [&](const std::string& packed, const std::string& content) {
    return packed.empty() ? frames.pack(content) : packed;
  };
  PackedArtifacts packed{.source_key = content_key(record.source),
                         .source = {},
                         .log = frames.pack(printable(record.log)),
                         .ptx = frame_of(record.packed_ptx, record.ptx),
                         .cubin = frame_of(record.packed_cubin, record.cubin)};
  const bool known = db.read([&] { return find_source(db, packed.source_key).has_value(); });
  if (!known) packed.source = frames.pack(record.source);
  return packed;
}

void insert_artifacts(Connection& db, CompilationId id, const PackedArtifacts& packed) {
  if (packed.source) {
    db.run("INSERT INTO source (key, text) VALUES (?,?) ON CONFLICT (key) DO NOTHING",
           packed.source_key, Blob{*packed.source});
  }
  const std::optional<std::int64_t> source = find_source(db, packed.source_key);
  if (!source) {
    db.fail(
        "is damaged: the table 'source' lacks the source of the new compilation; restore a backup, "
        "or name another file by --db");
  }
  db.run("INSERT INTO artifact (compilation_id, source_id, log, ptx, cubin) VALUES (?,?,?,?,?)", id,
         *source, Blob{packed.log}, Blob{packed.ptx}, Blob{packed.cubin});
}

Artifacts read_artifacts(Connection& db, CompilationId id) {
  Query row = db.query(
      "SELECT a.log, s.text, a.ptx, a.cubin FROM artifact a JOIN source s ON s.id = a.source_id"
      " WHERE a.compilation_id = ?",
      id);
  if (!row.next()) {
    db.fail(
        "is damaged: the artifacts of compilation {} are missing; restore a backup, or name "
        "another file by --db",
        id);
  }
  Artifacts packed;
  row.read(packed.log, packed.source, packed.ptx, packed.cubin);
  return {.log = unpack(db, packed.log, id, "log"),
          .source = unpack(db, packed.source, id, "source"),
          .ptx = unpack(db, packed.ptx, id, "PTX"),
          .cubin = unpack(db, packed.cubin, id, "cubin")};
}

}  // namespace evo
