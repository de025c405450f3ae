import Postgres
import TestPostgres
import Testing

@Suite("Columns of a result")
struct PostgresColumnsTests {
  private enum Column: Int, PostgresColumn {
    case first, readIDs, heldUS
  }

  private let swapped = PostgresStatement("swapped", "select array[7, 8]::bigint[] as read_ids, 'a' as first")

  @Test("places are found by name, once, and a column that is left out is null")
  func places() async throws {
    try await withConnection { connection, reactor in
      let columns = PostgresColumns<Column>(without: [.heldUS])
      let rows = try await connection.query(swapped, on: reactor)
      let places = try columns.places(in: rows)
      #expect(try columns.places(in: rows) == places)
      let row = try rows.one()
      #expect(try row.decode(at: places[Column.first.rawValue]) == "a")
      #expect(try row.decode(at: places[Column.readIDs.rawValue]) == [7, 8] as [Int64])
      #expect(try row.decode(at: places[Column.heldUS.rawValue]) == nil as Int64?)
      let refusal = try await failure { _ = try row.decode(at: places[Column.heldUS.rawValue]) as Int64 }
      #expect(refusal.code == .decoding)
    }
  }

  @Test("a column that should be there and is not, is an error")
  func missing() async throws {
    try await withConnection { connection, reactor in
      let rows = try await connection.query(swapped, on: reactor)
      let refusal = try await failure { _ = try PostgresColumns<Column>().places(in: rows) }
      #expect(refusal.code == .decoding && refusal.message.contains("held_us"))
    }
  }
}
