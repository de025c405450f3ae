package import Postgres
package import Reactors

// The tables of the application.
extension DatabaseExamination {
  /// Of all tables together. A catalog with more is read by the beginning of the alphabet.
  package static let hostColumnsMax = 5000

  /// The host's tables and views in the order of their names, the columns that hide rows, and the tables of blocks: a JSON document
  /// each, as `examine_host.sql` and `db/functions/applying_to_hosts.sql` say.
  /// - Returns: also how many tables `hostColumnsMax` leaves out.
  package func hostTables(
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> (tables: [String], hidden: [String], blocks: [String], leftOut: Int) {
    var count = 0
    var encoding = "UTF8"
    let documents = try await rows(.examineHost(columnsMax: Int64(Self.hostColumnsMax)), on: reactor) {
      row throws(PostgresError) in
      count = Int(try row.decode("count", as: Int64.self))
      encoding = try row.decode("encoding", as: String.self)
      return try row.decode("document", as: String.self)
    }
    guard encoding == "UTF8" else { throw await connection.refusal(ofEncoding: encoding, on: reactor) }
    let hidden = try await HiddenRows.look(at: [], over: connection, on: reactor)
    return (documents, hidden.columns, hidden.blocks, count - documents.count)
  }
}
