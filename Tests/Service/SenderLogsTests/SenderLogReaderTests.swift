import Testing

@testable import SenderLogs

@Suite("The log of another sender")
struct SenderLogReaderTests {
  private static let time = "2026-11-26T10:00:00Z"
  private static let sentAt: Int64 = 1_795_687_200_000_000

  /// The entries of a whole text.
  private func entries(
    _ text: String, _ format: SenderLogFormat = .csv, columns: SenderLogColumns = SenderLogColumns()
  ) -> [SenderLogEntry] {
    var reader = SenderLogReader(format, columns: columns)
    return reader.read(Array(text.utf8)) + reader.finish()
  }

  private func push(
    _ subject: String, _ user: String, kind: String = "message", outcome: String? = nil, line: Int
  ) -> SenderLogEntry {
    .push(
      SenderLogPush(subject: subject, user: user, sentAt: Self.sentAt, kind: kind, outcome: outcome), line: line)
  }

  private static let csv = """
    \u{FEFF}body,message_id,user_id,sent_at,kind,outcome\r
    "Hello, ""you""\r
    there",m1,u1,2026-11-26T10:00:00Z,,sent\r
    ,"m2",u2,2026-11-26 10:00:00+00,coach,Unregistered

    x,m3,,2026-11-26T10:00:00Z,,
    x,m4,u4,yesterday,,
    x,m5,u5,1795687200,Not A Kind,
    x,m6,u6,1795687200000
    """

  private var csvEntries: [SenderLogEntry] {
    [
      push("m1", "u1", line: 2), push("m2", "u2", kind: "coach", outcome: "Unregistered", line: 4),
      .fault("user_id is missing", line: 6), .fault("sent_at is no time", line: 7), .fault("kind is no kind", line: 8),
      push("m6", "u6", line: 9),
    ]
  }

  @Test("a CSV has quotes, line ends of both kinds, empty lines, columns in any order, and faults with their lines")
  func csv() { #expect(entries(Self.csv) == csvEntries) }

  @Test("a log cut at every byte brings the same")
  func cut() {
    let bytes = Array(Self.csv.utf8)
    for place in 0...bytes.count {
      var reader = SenderLogReader(.csv)
      let found = reader.read(bytes[..<place]) + reader.read(bytes[place...]) + reader.finish()
      #expect(found == csvEntries, "cut at \(place)")
    }
  }

  @Test("what is read before a log is cut short is right, and the last record is no other push")
  func truncated() {
    let bytes = Array(Self.csv.utf8)
    for end in 0..<bytes.count {
      var reader = SenderLogReader(.csv)
      let found = reader.read(bytes[..<end])
      #expect(found == Array(csvEntries.prefix(found.count)))
    }
  }

  @Test("objects a line, with numbers and texts, in any order")
  func objects() {
    let log = """
      {"user_id": 7, "message_id": "m1", "sent_at": 1795687200, "body": {"deep": [1]}, "ok": null}
      {"subject_id": "m2", "user_id": "u2", "sent_at": "\(Self.time)", "outcome": true}

      [1]
      {"message_id": "m3"
      {"message_id": ["m4"], "user_id": "u", "sent_at": 1}
      """
    #expect(
      entries(log, .ndjson) == [
        push("m1", "7", line: 1), push("m2", "u2", line: 2), .fault("it is no JSON object", line: 4),
        .fault("it is no JSON object", line: 5), .fault("message_id is missing", line: 6),
      ])
  }

  @Test("columns have the names that are chosen")
  func chosen() {
    var columns = SenderLogColumns()
    (columns.subject, columns.user, columns.time) = (["mid"], "to", "at")
    #expect(entries("to,at,mid\nu1,\(Self.time),m1\n", columns: columns) == [push("m1", "u1", line: 2)])
  }

  @Test("a first line without a needed column is told once, and nothing else is read")
  func header() {
    #expect(
      entries("message_id,sent_at\nm1,\(Self.time)\n") == [.fault("the first line names no column user_id", line: 1)])
  }

  @Test(
    "a record at the limit is read, one beyond it is a fault, and so is a quote that does not end; the next line counts"
  )
  func tooLong() {
    let header = "message_id,user_id,sent_at,body\n"
    let row = "m1,u1,\(Self.time),"
    let longest = row + String(repeating: "x", count: SenderLogRecords.recordBytesMax - row.utf8.count - 1) + "\n"
    #expect(entries(header + longest) == [push("m1", "u1", line: 2)])
    let rows = [longest.dropLast() + "x\n", row + "\"" + String(repeating: "x", count: 70_000) + "\n"]
    for long in rows {
      let found = entries(header + long + row + "\n")
      #expect(
        found == [
          .fault("it is longer than \(SenderLogRecords.recordBytesMax) bytes", line: 2), push("m1", "u1", line: 3),
        ])
    }
    #expect(entries(header + row + "\"x") == [.fault("a quote does not end", line: 2)])
  }

  @Test(
    "hostile lines are faults",
    arguments: [
      "\u{0},\u{0},\u{0}", "m1,u1,99999999999999999999", "m1,u1,-1", "m1,u1,2026-13-01T00:00:00Z", "\"m1\",u1",
      "m1,u1,NaN", "m1,u1,9e9",
    ])
  func hostile(_ line: String) {
    let found = entries("message_id,user_id,sent_at\n\(line)\n")
    guard case .fault(_, line: 2)? = found.first, found.count == 1 else {
      Issue.record("\(found)")
      return
    }
  }

  @Test("bytes that are no UTF-8 are a fault of their line")
  func notText() {
    var reader = SenderLogReader(.csv)
    let head = Array("message_id,user_id,sent_at\n".utf8)
    let rest = Array(",u1,\(Self.time)\n".utf8)
    #expect(reader.read(head + [0xFF] + rest) == [.fault("it is not UTF-8", line: 2)])
  }

  @Test(
    "outcomes: what was sent has none, and a failure keeps its word",
    arguments: [
      ("", nil), ("sent", nil), ("OK", nil), ("t", nil), ("200", nil), ("410", "410"), ("False", "False"),
      (String(repeating: "x", count: 100), String(repeating: "x", count: 64)),
    ])
  func outcomes(word: String, kept: String?) {
    let found = entries("message_id,user_id,sent_at,outcome\nm,u,\(Self.time),\(word)\n")
    #expect(found == [push("m", "u", outcome: kept, line: 2)])
  }
}

@Suite("Times of logs")
struct SenderLogTimeTests {
  @Test(
    "instants of RFC 3339, of PostgreSQL, and since 1970",
    arguments: [
      ("2026-11-26T10:00:00Z", 1_795_687_200_000_000), ("2026-11-26 10:00:00", 1_795_687_200_000_000),
      ("2026-11-26 11:30:00.25+01:30", 1_795_687_200_250_000), ("2026-11-26T05:00:00.000001-05", 1_795_687_200_000_001),
      ("2026-11-26T11:30:00+0130", 1_795_687_200_000_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
      ("2000-01-01T00:00:00Z", 946_684_800_000_000), ("1795687200", 1_795_687_200_000_000),
      ("1795687200.5", 1_795_687_200_500_000), ("1795687200123", 1_795_687_200_123_000), ("0", 0),
    ] as [(String, Int64)])
  func known(text: String, microseconds: Int64) { #expect(SenderLogTime.microseconds(of: text) == microseconds) }

  @Test(
    "anything else is none",
    arguments: [
      "", "now", "2026-11-26", "2026-11-26T10:00Z", "2025-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
      "2026-11-26T24:00:00Z", "2026-11-26T10:60:00Z", "2026-11-26T10:00:60Z", "1999-12-31T23:59:59Z",
      "3000-01-01T00:00:00Z", "2026-11-26T10:00:00.Z", "2026-11-26T10:00:00+15", "2026-11-26T10:00:00+01:",
      "2026-11-26T10:00:00Z ", "123456789012345", "1795687200123.5", "1.2.3", "-1",
    ])
  func unknown(text: String) { #expect(SenderLogTime.microseconds(of: text) == nil) }
}
