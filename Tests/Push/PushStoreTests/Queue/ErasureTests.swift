import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Deleted users are forgotten")
struct ErasureTests {
  /// Columns of ids that name no user. Whoever makes another column of ids decides whether it belongs here.
  private static let ofNobody: Set<String> = [
    "subject_id", "subject_ids", "conversation_id", "surface_id", "message_ids", "run_id", "push_id", "id",
    // Messages of a burst, whose row goes with its user.
    "first_subject", "latest_subject",
    // Rows of the ledger, and the name of an event; beside the user.
    "log_id", "webhook_id",
    // How far a large event has been told, gone with the event; how far an hour's users are enrolled, gone when all are.
    "told_until", "last_user",
  ]

  @Test("every column of ids is one by which rows are erased, or known to name nobody", .uuidsOnly)
  func catalogue() async throws {
    let database = try await TestDatabase.migrated()
    let unknown = try await database.sql(
      """
      select a.attrelid::regclass || '.' || a.attname
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'tacet'::regnamespace
        and c.relkind in ('r', 'p', 'm', 'f') and a.attnum > 0 and not a.attisdropped
        and c.oid <> 'tacet.erasures'::regclass
        and a.atttypid in ('uuid'::regtype, 'uuid[]'::regtype)
        and (c.oid::regclass, a.attname) not in (select u.relation, u.user_column from tacet.user_columns u)
        and a.attname <> all ('{\(Self.ofNobody.sorted().joined(separator: ","))}')
      """)
    #expect(unknown == "")
  }

  @Test("the rows of a deleted user go from every table, and those of others stay", .uuidsOnly)
  func everyTable() async throws {
    let chat = try await Chat(readers: 2)
    let tables = try await fill(chat)
    #expect(tables.count >= 12)
    try await chat.database.sql("delete from profiles where id = '\(chat.readers[0])'")
    _ = try await erase(chat.database)
    for (table, column) in tables {
      let left = try await chat.database.sql("select \(column) from \(table)")
      #expect(left == id(chat.readers[1]), "\(table)")
    }
    #expect(try await failures(chat.database) == "0")
  }

  @Test("a role of the service's own erases what it does not own", .uuidsOnly)
  func serviceRole() async throws {
    let chat = try await Chat(readers: 2, in: try await ServiceRoleTests.database(.after))
    let tables = try await fill(chat)
    try await chat.database.sql("delete from profiles")
    #expect(try await erase(chat.database).rows >= 2 * tables.count)
  }

  @Test("what is locked for longer than a trigger may wait is left, and goes when the lock has gone")
  func locked() async throws {
    let scene = try await HeldScene.held()
    let database = scene.chat.database
    let left = "select (select count(*) from tacet.deliveries), (select count(*) from tacet.push_log)"
    try await withTwoSessions(database) { host, service, reactor in
      try await service.run("begin; select from tacet.deliveries for update", on: reactor)
      let start = ContinuousClock.now
      try await host.run("delete from public.profiles where id = '\(scene.chat.reader)'", on: reactor)
      #expect(ContinuousClock.now - start < patience)
      #expect(try await erase(database).finished == 0)
      #expect(try await database.sql(left) == "1|0")
      #expect(try await database.sql("select is_clean from tacet.erasures") == "f")
      try await service.run("rollback", on: reactor)
    }
    try await comeDue(database)
    #expect(try await erase(database).rows == 1)
    #expect(try await database.sql(left) == "0|0")
    #expect(try await failures(database) == "0")
  }

  @Test("a push that was under way is recorded after the erasure, and forgotten by a later pass")
  func recordedLater() async throws {
    let chat = try await Chat()
    try await chat.send()
    let claimed = try await claim(chat.database)
    try await chat.database.sql("delete from public.profiles where id = '\(chat.reader)'")
    #expect(try await erase(chat.database) == ErasurePass(rows: 0, finished: 0, hasMore: false))
    try await chat.record(claimed) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.database.sql("select count(*) from tacet.push_log") == "1")
    try await comeDue(chat.database)
    #expect(try await erase(chat.database) == ErasurePass(rows: 1, finished: 0, hasMore: false))
    #expect(try await chat.database.sql("select count(*) from tacet.push_log") == "0")
  }

  @Test(
    "a user is done with when nothing was found long enough after the first pass",
    arguments: [("59 min", 0), ("61 min", 1)])
  func finished(_ age: String, _ finished: Int) async throws {
    let chat = try await Chat()
    try await chat.database.sql("delete from public.profiles where id = '\(chat.reader)'")
    _ = try await erase(chat.database)
    try await chat.database.sql("update tacet.erasures set due_at = now(), begun_at = now() - interval '\(age)'")
    #expect(try await erase(chat.database).finished == finished)
    #expect(try await chat.database.sql("select count(*) from tacet.erasures") == "\(1 - finished)")
  }

  @Test("passes over the same user grow apart")
  func apart() async throws {
    let chat = try await Chat()
    try await chat.database.sql("delete from public.profiles where id = '\(chat.reader)'")
    _ = try await erase(chat.database)
    let wait = "select round(extract(epoch from due_at - begun_at)) from tacet.erasures"
    #expect(try await chat.database.sql(wait) == "10")
    try await chat.database.sql("update tacet.erasures set due_at = now(), begun_at = now() - interval '500 s'")
    _ = try await erase(chat.database)
    // As long again as since the first pass began.
    #expect((1000...1060).contains(try #require(Int(try await chat.database.sql(wait)))))
  }

  @Test("a pass takes so many users and so many rows, and says that there are more")
  func bounded() async throws {
    let chat = try await Chat(readers: 3)
    try await chat.database.sql(
      """
      insert into tacet.push_log (user_id, push_type, decision)
      select p.id, 'message', 'sent' from profiles p, generate_series(1, 5);
      delete from profiles where id <> '\(chat.sender)'
      """)
    var rows: [Int] = []
    for _ in 0..<5 { rows.append(try await erase(chat.database, usersMax: 2, rowsMax: 7).rows) }
    #expect(rows.reduce(0, +) == 15 && rows.allSatisfy { $0 <= 7 }, "\(rows)")
    let kept = "select count(*), min(user_id::text) from tacet.push_log"
    #expect(try await chat.database.sql(kept) == "5|\(id(chat.sender))")
  }

  @Test("two services share the users, and neither waits for the other")
  func together() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.database.sql("delete from profiles where id <> '\(chat.sender)'")
    try await withTwoSessions(chat.database) { first, second, reactor in
      let pass = "select count(*) from tacet.erase_users(1, 10, '1 h')"
      try await first.run("begin; \(pass)", on: reactor)
      try await second.run("begin; \(pass)", on: reactor)
      try await first.run("commit", on: reactor)
      try await second.run("commit", on: reactor)
    }
    #expect(try await chat.database.sql("select count(*) from tacet.erasures where begun_at is not null") == "2")
  }

  @Test("a user who is back in the table, as after an exchange of the row, is not forgotten")
  func back() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into tacet.preferences (user_id) values ('\(chat.reader)');
      begin; delete from profiles where id = '\(chat.reader)'; insert into profiles (id) values ('\(chat.reader)'); commit
      """)
    #expect(try await erase(chat.database).rows == 0)
    #expect(try await chat.database.sql("select count(*) from tacet.preferences, tacet.erasures") == "0")
    #expect(try await chat.database.sql("select count(*) from tacet.preferences") == "1")
  }

  @Test("users whom the trigger could not note are found among the failures")
  func missed() async throws {
    let chat = try await Chat()
    try await chat.database.sql("insert into tacet.preferences (user_id) values ('\(chat.reader)')")
    try await withTwoSessions(chat.database) { host, locker, reactor in
      try await locker.run("begin; lock table tacet.erasures in access exclusive mode", on: reactor)
      try await host.run("delete from public.profiles where id = '\(chat.reader)'", on: reactor)
      try await locker.run("rollback", on: reactor)
    }
    #expect(try await failures(chat.database) == "1")
    #expect(try await withStore(chat.database) { try await $0.enqueueMissed(rowsMax: 10, on: $1) } == 0)
    #expect(try await erase(chat.database).rows == 1)
    try await comeDue(chat.database)
    #expect(try await erase(chat.database).rows == 0)
  }

  @Test("a host with other tables says whom to forget")
  func otherTables() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into tacet.preferences (user_id) values ('\(chat.reader)');
      select tacet.forget_user('\(chat.reader)')
      """)
    #expect(try await erase(chat.database).rows == 1)
  }
}

extension ErasureTests {
  /// A row of each reader in every table that names users, whatever its other columns are.
  /// - Returns: the tables, and where each names the user.
  private func fill(_ chat: Chat) async throws -> [(table: String, column: String)] {
    let columns = try await chat.database.sql("select relation, user_column from tacet.user_columns order by 1::text")
    let places = columns.split(separator: "\n").map { $0.split(separator: "|").map(String.init) }
      .map { (table: $0[0], column: $0[1]) }
    for (name, userColumn) in places {
      let columns = try await chat.database.sql(
        """
        select a.attname || ' ' || format_type(a.atttypid, null) from pg_attribute a
        where a.attrelid = '\(name)'::regclass and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
          and (a.attnotnull and not a.atthasdef)
        """
      ).split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
      let others = columns.filter { $0[0] != userColumn }
      for user in chat.readers {
        let values = ["'\(user)'"] + others.map(Self.value)
        try await chat.database.sql(
          """
          insert into \(name) (\(([userColumn] + others.map { $0[0] }).joined(separator: ", ")))
          values (\(values.joined(separator: ", ")))
          """)
      }
    }
    return places
  }

  private static func value(of column: [String]) -> String {
    switch (column[0], column[1]) {
    case (_, "json"), (_, "jsonb"): "'{}'"
    case ("state", _), ("decision", _): "'held'"
    case ("type", _): "'WorkoutActivityAttributes'"
    case ("cause", _): "'request'"
    case ("slot", _): "'0800'"
    case ("device_token", _), ("address", _), ("id", "text"): "gen_random_uuid()::text"
    case (_, "uuid"): "gen_random_uuid()"
    case (_, let type) where type.hasSuffix("[]"): "'{}'"
    case (_, let type) where type.hasPrefix("timestamp") || type == "date": "now()"
    case (_, "boolean"): "false"
    default: "'1'"
    }
  }

  private func comeDue(_ database: TestDatabase) async throws {
    try await database.sql("update tacet.erasures set due_at = now()")
  }

}

private func id(_ user: HostID) -> String { user.text }

/// One pass of the rescuer over deleted users.
@discardableResult
func erase(_ database: TestDatabase, usersMax: Int = 50, rowsMax: Int = 500) async throws -> ErasurePass {
  try await withStore(database) {
    try await $0.eraseUsers(usersMax: usersMax, rowsMax: rowsMax, settled: .seconds(3600), on: $1)
  }
}

@Suite("Users who are gone from auth.users alone", .uuidsOnly)
struct GoneUsersTests {
  @Test("are found, a few at a time, and forgotten")
  func goneFromLogins() async throws {
    let chat = try await Chat(readers: 3)
    try await makeLogins(of: [chat.sender, chat.readers[1]], in: chat.database)
    try await fillPreferences(chat)
    #expect(try await findGone(chat.database, usersMax: 2) == 1)
    #expect(try await findGone(chat.database, usersMax: 2) == 1)
    #expect(try await chat.database.sql("select count(*) from tacet.erasures") == "2")
    _ = try await erase(chat.database)
    #expect(
      try await chat.database.sql("select user_id from tacet.preferences") == chat.readers[1].text)
  }

  @Test("are nobody where there is no auth.users, and where its ids are others")
  func nobodyGone() async throws {
    let chat = try await Chat(readers: 2)
    try await fillPreferences(chat)
    #expect(try await findGone(chat.database) == 0)
    try await makeLogins(of: [HostID.new()], in: chat.database)
    #expect(try await findGone(chat.database) == 0)
    #expect(try await chat.database.sql("select count(*) from tacet.erasures") == "0")
  }

  private func makeLogins(of users: [HostID], in database: TestDatabase) async throws {
    try await database.sql(
      """
      create schema auth; create table auth.users (id uuid primary key);
      insert into auth.users values \(users.map { "('\($0)')" }.joined(separator: ", "))
      """)
  }

  private func fillPreferences(_ chat: Chat) async throws {
    let rows = chat.readers.map { "('\($0)')" }.joined(separator: ", ")
    try await chat.database.sql("insert into tacet.preferences (user_id) values \(rows)")
  }

  /// - Returns: batches after which there may be more.
  private func findGone(_ database: TestDatabase, usersMax: Int = 100) async throws -> Int {
    try await withStore(database) { store, reactor in
      var last: HostID?
      var batches = 0
      while let next = try await store.queueGoneUsers(after: last, usersMax: usersMax, on: reactor) {
        last = next
        batches += 1
      }
      return batches
    }
  }
}

@Suite("Leaving a conversation")
struct LeavingTests {
  /// The last look, whether the other message was read, and leaving; how long ago.
  private static let signs: [(seen: String?, isReader: Bool, left: String?, hasLeft: Bool)] = [
    ("10 s", false, "5 s", true), ("10 s", false, "10 s", true), ("10 s", false, "20 s", false),
    ("10 s", false, nil, false), ("30 s", true, "25 s", true), (nil, true, "5 s", true), (nil, true, "15 s", true),
    (nil, true, "20 s", false), (nil, true, nil, false), (nil, false, "5 s", false),
  ]

  @Test(
    "leaving counts since the last look, or, where no look was ever reported, since the other message was read",
    arguments: signs)
  func left(_ seen: String?, _ isReader: Bool, _ left: String?, _ hasLeft: Bool) async throws {
    let chat = try await Chat()
    let other = try await chat.send()
    try await chat.record(try await claim(chat.database)) { RecipientOutcome(userID: $0, decision: .sent) }
    try await chat.database.sql(
      """
      begin;
      \(isReader ? "update messages set read_by = array['\(chat.reader)']::uuid[] where id = '\(other)';" : "")
      update messages set updated_at = now() - interval '15 s', created_at = now() - interval '1 h';
      update conversation_participants
      set last_seen = now() - interval '\(seen ?? "0 s")', tacet_left_at = now() - interval '\(left ?? "0 s")';
      update conversation_participants
      set last_seen = \(seen == nil ? "null" : "last_seen"), tacet_left_at = \(left == nil ? "null" : "tacet_left_at");
      commit
      """)
    try await chat.send()
    let claimed = try await claim(chat.database)
    #expect(claimed.flatMap(\.recipients).map(\.situation.hasLeft) == [hasLeft])
    try await chat.record(claimed) { .held($0) }
    let hold = RecordedHold(subject: try #require(claimed.first).subject, userID: chat.reader)
    #expect(try await withStore(chat.database) { try await $0.review([hold], on: $1).released } == (hasLeft ? 1 : 0))
  }
}
