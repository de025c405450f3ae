import FoundationEssentials
import Postgres
import TestPostgres
import TestProcesses
import Testing

@Suite("Values")
struct ScalarsTests {
  private func roundTrip<Value: PostgresScalar & Equatable & Sendable>(
    _ values: [Value], _ type: PostgresType
  ) async throws {
    try await withConnection { connection, reactor in
      let scalar = PostgresStatement("scalar", "select $1 as v", [type])
      let list = PostgresStatement("list", "select $1 as v, cardinality($1)", [.array(of: type)])
      for value in values {
        #expect(try await connection.query(scalar, [value], on: reactor).one().decode("v") == value)
      }
      let none = try await connection.query(scalar, [Value?.none], on: reactor).one()
      #expect(try none.decode("v", as: Value?.self) == nil)
      #expect(throws: PostgresError.self) { try none.decode("v", as: Value.self) }
      let all = try await connection.query(list, [values], on: reactor).one()
      #expect(try all.decode("v") == values)
      #expect(try all.decode("cardinality") == values.count)
      let holes: [Value?] = [nil] + values.map { $0 } + [nil]
      #expect(try await connection.query(list, [holes], on: reactor).one().decode("v") == holes)
      let empty = try await connection.query(list, [[Value]()], on: reactor).one()
      #expect(try empty.decode("v") == [Value]())
      let noList = try await connection.query(list, [[Value]?.none], on: reactor).one()
      #expect(try noList.decode("v", as: [Value]?.self) == nil)
    }
  }

  @Test("booleans come back as they went")
  func booleans() async throws { try await roundTrip([true, false], .bool) }

  @Test("integers come back as they went, at the ends of their ranges too")
  func integers() async throws {
    try await roundTrip([0, -1, Int.min, Int.max], .int8)
    try await roundTrip([0, Int64.min, Int64.max], .int8)
    try await roundTrip([0, Int32.min, Int32.max], .int4)
    try await roundTrip([-32768, 32767], .int2)
  }

  @Test("floating-point numbers come back as they went")
  func doubles() async throws {
    try await roundTrip([0, -0.1, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude], .float8)
  }

  @Test("text comes back as it went, whatever characters an array literal would have to quote")
  func text() async throws {
    try await roundTrip(
      ["", "a", "NULL", "\"quoted\"", "a,b", "{x}", "back\\slash", " ", "'", "𝄞 tacet", "\n\t"], .text)
  }

  @Test("UUIDs come back as they went")
  func uuids() async throws {
    try await roundTrip([UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000")!], .uuid)
  }

  @Test("times come back as they went, and the ends of time have no number")
  func times() async throws {
    try await roundTrip(
      [0, -1, 1_795_000_000_123_456, -210_866_803_200_000_000].map { PostgresTimestamp(microseconds: $0) }, .timestamptz
    )
    try await withConnection { connection, reactor in
      let statement = PostgresStatement("time", "select $1 as v", [.timestamptz])
      for time in ["infinity", "-infinity", "294276-12-31 23:59:59+00"] {
        let read: PostgresTimestamp = try await connection.query(statement, [time], on: reactor).one().decode("v")
        #expect(read.microseconds == nil)
        #expect(throws: PostgresError.self) { try read.finite() }
      }
    }
    var bytes: [UInt8] = []
    #expect(!PostgresTimestamp(microseconds: nil).encode(as: .timestamptz, into: &bytes))
    #expect(!PostgresTimestamp(microseconds: .min).encode(as: .timestamptz, into: &bytes))
  }

  @Test("a duration is read from a number of microseconds, and from nothing else")
  func durations() async throws {
    try await withConnection { connection, reactor in
      let spans = PostgresStatement("spans", "select -1::bigint, 1500000::int, null::bigint, interval '1 s'")
      let row = try await connection.query(spans, on: reactor).one()
      #expect(try row.decode(0) == Duration.microseconds(-1))
      #expect(try row.decode(1) == Duration.milliseconds(1500))
      #expect(try row.decode(2, as: Duration?.self) == nil)
      #expect(throws: PostgresError.self) { try row.decode(2, as: Duration.self) }
      #expect(throws: PostgresError.self) { try row.decode(3, as: Duration.self) }
    }
  }

  @Test("a string can be a parameter of any type")
  func textForm() async throws {
    try await withConnection { connection, reactor in
      let casts = PostgresStatement(
        "casts", "select $1 = timestamptz '2026-01-01 00:00+00', $2 ->> 'a', $3 + 1", [.timestamptz, .jsonb, .int4])
      let row = try await connection.query(casts, ["2026-01-01T00:00Z", #"{"a":"b"}"#, "41"], on: reactor).one()
      #expect(try row.decode(0, as: Bool.self))
      #expect(try row.decode(1) == "b")
      #expect(try row.decode(2) == 42)
    }
  }

  @Test("an enumeration travels as its raw value and reads a database enumeration")
  func enumerations() async throws {
    try await withConnection { connection, reactor in
      try await connection.simple("create type pg_temp.mood as enum ('calm', 'loud')", on: reactor)
      let statement = PostgresStatement("mood", "select $1::pg_temp.mood, array['loud', $1]::pg_temp.mood[]", [.text])
      let row = try await connection.query(statement, [Mood.calm], on: reactor).one()
      #expect(try row.decode(0) == Mood.calm)
      #expect(try row.decode(1) == [Mood.loud, .calm])
      let other = PostgresStatement("other", "select 'angry'")
      let angry = try await connection.query(other, on: reactor).one()
      #expect(throws: PostgresError.self) { try angry.decode(0, as: Mood.self) }
    }
  }

  @Test("what does not fit its declared type is refused before it is sent")
  func refusals() async throws {
    try await withConnection { connection, reactor in
      let cases: [(PostgresType, any PostgresEncodable)] = [
        (.text, "a\0b"), (.array(of: .text), ["a\0b"]), (.int4, 1 << 40), (.uuid, 5), (.int8, UUID()),
        (.int8, [1]), (.array(of: .int8), ["x"]), (.text, true),
      ]
      for (index, (type, value)) in cases.enumerated() {
        let statement = PostgresStatement("refused_\(index)", "select $1", [type])
        let error = try await failure { try await connection.query(statement, [value], on: reactor) }
        #expect(error.code == .invalidParameter)
      }
      let error = try await failure { try await connection.query(echo, on: reactor) }
      #expect(error.code == .invalidParameter)
      #expect(connection.statementsAnswered == 0)
      try await connection.query(one, on: reactor)
    }
  }
}

private enum Mood: String, PostgresScalar, Decodable {
  case calm, loud
}

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

@Suite("Rows as types")
struct DecodedRowTests {
  private struct Entry: Decodable, Equatable {
    struct Owner: Decodable, Equatable {
      let userID: Int64
      var isKnown = false
    }

    let seenAge: Duration
    var note: String?
    let mood: Mood
    let tags: [String]
    let owner: Owner
  }

  private let sql =
    "select 7::bigint as user_id, true as is_known, 5::bigint as seen_age, null::text as note, 'loud' as mood, '{a,b}'::text[] as tags"

  @Test("properties are read from the columns of their names, those of a type that no column holds from the same row")
  func properties() async throws {
    try await withConnection { connection, reactor in
      let rows = try await connection.query(PostgresStatement("entries", sql), on: reactor)
      let entry = Entry(
        seenAge: .microseconds(5), note: nil, mood: .loud, tags: ["a", "b"], owner: .init(userID: 7, isKnown: true))
      #expect(try rows.decoded() == [entry])
      #expect(try rows.one().decoded(as: Int64.self) == 7, "one column is the first")
    }
  }

  @Test(
    "a column that is missing or does not fit is an error that names it",
    arguments: [
      ("as tags", "as tag", "tags"), ("null::text as note", "1 as note", "note"),
      ("5::bigint", "null::bigint", "seen_age"),
    ])
  func misfits(_ found: String, _ replacement: String, _ column: String) async throws {
    try await withConnection { connection, reactor in
      let statement = PostgresStatement("misfit_\(column)", sql.replacing(found, with: replacement))
      let rows = try await connection.query(statement, on: reactor)
      let error = try await failure { _ = try rows.decoded(as: Entry.self) }
      #expect(error.code == .decoding && error.message.contains(column))
    }
  }
}

@Suite("Names and texts in SQL and shells")
struct QuotedTextTests {
  private static let names = [
    "plain", "two words", "we\"ird", "\"", "Upper", "from", "user", "9lives", "_x9", "a\nb", "x; drop table y; --",
    "naïve", "a\\b", "a'b", "$$", "$body1$", "select", "Order", "semi;colon", "tab\t", "é", "", "\\", "''",
    "it's \\ here", "'\u{301}", "\"\u{301}", "\u{600}'", "\u{600}\"",
    "\\\u{301}'; --", "\u{600}$$", "$$\u{301}", "a\"\u{301}; drop table y; --", "a'\u{20e3}; drop table y; --",
    "e\u{301}", "\u{1f468}\u{200d}\"\u{200d}'",
  ]

  @Test("read as the same names and texts again")
  func quoted() async throws {
    let server = try await TestPostgres.shared
    for name in Self.names {
      let bytes = name.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let read = [name.quotedLiteral, name.dollarQuoted].map { "encode(convert_to(\($0), 'UTF8'), 'hex')" }
      #expect(try await server.psql("select \(read.joined(separator: ", "))") == "\(bytes)|0a\(bytes)0a\n", "\(name)")
      guard !name.isEmpty else { continue }
      let column =
        "select encode(convert_to(max(key), 'UTF8'), 'hex') from json_object_keys((select row_to_json(t) from (select 1 as"
      #expect(try await server.psql("\(column) \(name.quotedIdentifier)) t)) key") == bytes + "\n", "\(name)")
    }
  }

  @Test("a body is quoted by a word that it does not have")
  func dollars() {
    #expect("select 1".dollarQuoted == "$$\nselect 1\n$$")
    #expect("a$$b".dollarQuoted == "$body1$\na$$b\n$body1$")
    #expect("a$$\u{301}".dollarQuoted == "$body1$\na$$\u{301}\n$body1$")
    #expect("a\u{600}$$b$body1$\u{301}".dollarQuoted == "$body2$\na\u{600}$$b$body1$\u{301}\n$body2$")
    #expect("a$$b$body1$".dollarQuoted == "$body2$\na$$b$body1$\n$body2$")
  }

  @Test("a comment stays on its line")
  func oneLine() {
    #expect("a\nb\r\nc\u{7f}d".onOneLine == "a b  c d")
  }

  @Test("are the same arguments again in a shell")
  func shell() throws {
    for name in Self.names {
      #expect(try run(["sh", "-c", "printf '%s.' \(name.shellQuoted)"]) == name + ".")
    }
    #expect("/tmp/a-b_c.sql".shellQuoted == "/tmp/a-b_c.sql")
    #expect("".shellQuoted == "''")
  }

  @Test("end nothing by a zero byte")
  func zeroBytes() {
    #expect("a\0\"b".quotedIdentifier == "\"a\"\"b\"")
    #expect("a\0'b".quotedLiteral == "'a''b'")
    #expect("a\0b".dollarQuoted == "$$\nab\n$$")
    #expect("a\0b".shellQuoted == "'ab'")
    #expect("a\0b".onOneLine == "a b")
  }
}
