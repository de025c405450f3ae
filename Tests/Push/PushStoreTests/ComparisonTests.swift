import Postgres
import PushKinds
import PushStore
import TestIDs
import Testing

/// What another sender pushed, beside the ledger.
@Suite("The comparison with another sender", .serialized)
struct ComparisonTests {
  private static let noon: Int64 = 1_795_687_200_000_000
  private static let second: Int64 = 1_000_000

  private static func push(
    _ subject: HostID, _ user: HostID, at seconds: Int64 = 0, outcome: String? = nil
  ) -> ComparedPush {
    ComparedPush(subject: .message(subject), userID: user, sentAt: noon + seconds * second, outcome: outcome)
  }

  @Test("the same pushes again change nothing; of several the earliest that was sent counts, whatever their order")
  func again() async throws {
    let database = try await TestDatabase.migrated()
    let (message, user) = (HostID.new(), HostID.new())
    let pushes = [
      Self.push(message, user, at: 1, outcome: "410"), Self.push(message, user, at: 3), Self.push(message, user, at: 2),
      Self.push(message, .new(), at: 5),
    ]
    let later = [[Self.push(message, user, at: 0, outcome: "x")], [Self.push(message, user, at: 1)]]
    let counts = try await withStore(database) { store, reactor in
      var counts: [Int] = []
      for batch in [pushes, pushes.reversed()] + later {
        counts.append(try await store.importCompared(batch, on: reactor))
      }
      return counts
    }
    #expect(counts == [2, 0, 0, 1])
    let row =
      "select extract(epoch from sent_at)::bigint, outcome is null from tacet.compared_pushes where user_id = '\(user)'"
    #expect(try await database.sql(row) == "\(Self.noon / Self.second + 1)|t")
  }

  @Test("a table of the host is only read, whatever its columns are called; rows without an id or a time are counted")
  func table() async throws {
    let database = try await TestDatabase.migrated()
    let (message, user) = (HostID.new(), HostID.new())
    try await database.sql(
      """
      create table public."Log of pushes" ("Message" text, "to; drop table tacet.inbox" text, "At" timestamptz, status text);
      insert into public."Log of pushes" values
        ('\(message)', '\(user)', now(), 'FAILED'), ('\(message)', '\(user)', now() + interval '1 s', 'Sent'),
        ('\(message)', null, now(), 'Sent'), (null, '\(user)', now(), 'Sent')
      """)
    let table = ComparedTable(
      name: #"public."Log of pushes""#, subject: "Message", user: "to; drop table tacet.inbox", time: "At",
      outcome: "status", pushedWords: ["sent"])
    for imported in [1, 0] {
      let counts = try await withStore(database) { try await $0.importCompared(from: table, on: $1) }
      #expect(counts.imported == imported && counts.leftOut == 2)
    }
    let missing = ComparedTable(name: "public.no_such_table", subject: "a", user: "b", time: "c")
    let error = await #expect(throws: PostgresError.self) {
      _ = try await withStore(database) { try await $0.importCompared(from: missing, on: $1).imported }
    }
    #expect(error?.sqlState == .undefinedTable)
    #expect(try await database.sql("select kind, outcome is null from tacet.compared_pushes") == "message|t")
    #expect(try await database.sql(#"select count(*) from public."Log of pushes""#) == "4")
  }

  @Test("each pair counts once, at the time of the ledger or else of the other sender, with both verdicts")
  func verdicts() async throws {
    let database = try await TestDatabase.migrated()
    let messages = (0..<8).map { _ in HostID.new() }
    let user = HostID.new()
    /// A row of the ledger: seconds after noon, decision, reason, and when it was sent.
    func row(_ message: Int, _ at: Int64, _ decision: String, _ reason: String?, sent: Int64? = nil) -> String {
      func time(_ seconds: Int64) -> String { "to_timestamp(\(Self.noon / Self.second + seconds))" }
      return """
        insert into tacet.push_log (subject_id, user_id, push_type, enqueued_at, decision, reason, sent_at)
        values ('\(messages[message])', '\(user)', 'message', \(time(at)), '\(decision)',
          \(reason.map { "'\($0)'" } ?? "null"), \(sent.map(time) ?? "null"));
        """
    }
    try await database.sql(
      row(0, 0, "skipped", "shadow", sent: 1) + row(1, 10, "sent", nil, sent: 14)
        + row(2, 20, "skipped", "already_read")
        + row(3, 30, "skipped", "shadow", sent: 31) + row(4, 99, "held", "user_viewing")
        + row(5, -1, "sent", nil, sent: 0)
        + row(6, 100, "sent", nil, sent: 100))
    let theirs = [
      Self.push(messages[0], user, at: 2), Self.push(messages[1], user, at: 11), Self.push(messages[2], user, at: 120),
      Self.push(messages[3], user, at: 31, outcome: "410"),
      // Of events outside of the time, pushed within; and of an event that the ledger does not know.
      Self.push(messages[5], user, at: 0), Self.push(messages[6], user, at: 99), Self.push(messages[7], user, at: 99),
    ]
    try await withStore(database) { store, reactor in
      _ = try await store.importCompared(theirs, on: reactor)
      let (verdicts, sounds) = try await store.compare(
        from: Self.noon, to: Self.noon + 100 * Self.second, kinds: ["message"], on: reactor)
      let words = Set(
        verdicts.map { "\($0.ours) \($0.reason ?? "-") \($0.theirs) \($0.outcome ?? "-") \($0.pairs)" })
      #expect(
        words == [
          "pushed - pushed - 2", "skipped already_read pushed - 1", "pushed - failed 410 1",
          "held user_viewing nothing - 1", "unknown - pushed - 1",
        ])
      let both = verdicts.first { $0.ours == "pushed" && $0.theirs == "pushed" }
      #expect(both?.medianLateness == -Self.second && both?.percentile99Lateness == 3 * Self.second)
      #expect(Set(both?.examples.map(\.subjectID) ?? []) == Set(messages[0...1].map(\.text)))
      #expect((sounds.userDays, sounds.ours, sounds.theirs) == (1, 3, 5))
      #expect(try await store.compare(from: 0, to: 1, kinds: ["message"], on: reactor).verdicts.isEmpty)
      #expect(
        try await store.compare(from: 0, to: .max / 2, kinds: ["coach"], on: reactor).verdicts.isEmpty)
    }
  }
}
