import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Ingest and status")
struct PushStatementsIngestTests {
  @Test("a message the host does not have is unknown and makes no inbox row")
  func unknown() async throws {
    let database = try await TestDatabase.migrated()
    #expect(try await ingest(HostID.new(), in: database) == .unknown)
    #expect(try await database.sql("select count(*) from tacet.inbox") == "0")
  }

  @Test("a message that a webhook alone told of gets an inbox row, once")
  func webhookOnly() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql("delete from tacet.inbox")
    for _ in 0..<2 { #expect(try await ingest(message, in: chat.database) == .pending) }
    #expect(try await claim(chat.database).map(\.subject) == [.message(message)])
    #expect(try await status(message, in: chat.database) == .pending)
  }

  @Test("a message that is claimed already is pending and not made anew")
  func pending() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    #expect(try await claim(chat.database).count == 1)
    #expect(try await ingest(message, in: chat.database) == .pending)
    #expect(try await claim(chat.database) == [])
  }

  @Test("a decided message answers its outcomes, by user id, and is not made anew")
  func decided() async throws {
    let chat = try await Chat(readers: 4)
    let message = try await chat.send()
    let events = try await claim(chat.database)
    let claimed = try #require(events.first)
    let decisions: [OutcomeDecision] = [.sent, .held, .skipped, .failed]
    var outcomes = zip(chat.readers, decisions).map {
      RecipientOutcome(userID: $0, decision: $1, reason: $1 == .sent ? nil : "r_\($1)")
    }
    outcomes[0].acceptedDevices = ["aa", "bb"]
    outcomes[1].due = .seconds(5)
    outcomes[1].remaining = .held
    let event = DecidedEvent(event: claimed, outcomes: outcomes, deadTargets: [], wokenBy: "webhook")
    try await withStore(chat.database) { try await $0.record([event], on: $1) }
    let expected = zip(chat.readers, decisions).map { user, decision in
      RecordedOutcome(
        userID: user, decision: decision, reason: decision == .sent ? nil : "r_\(decision)",
        heldUntil: decision == .held ? claimed.claimedAt + 5_000_000 : nil, devicesAccepted: decision == .sent ? 2 : 0)
    }
    #expect(try await ingest(message, in: chat.database) == .decided(expected))
    #expect(try await status(message, in: chat.database) == .decided(expected))
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "0")
  }

  @Test("a deleted message that was decided is still answered from the ledger")
  func deleted() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      insert into tacet.push_log (user_id, subject_id, push_type, decision)
      values ('\(chat.reader)', '\(message)', 'message', 'skipped');
      delete from messages; delete from tacet.inbox
      """)
    let outcome = RecordedOutcome(
      userID: chat.reader, decision: .skipped, reason: nil, heldUntil: nil, devicesAccepted: 0)
    #expect(try await ingest(message, in: chat.database) == .decided([outcome]))
  }

  @Test(
    "a message that a webhook alone told of is as old as itself, and never younger than now",
    arguments: [("interval '-1 year'", 31_000_000), ("interval '-10 minutes'", 600), ("interval '1 hour'", 0)])
  func age(_ offset: String, _ seconds: Int64) async throws {
    let chat = try await Chat()
    let message = try await chat.send("'x'", ["created_at": "now() + \(offset)"])
    try await chat.database.sql("delete from tacet.inbox")
    #expect(try await ingest(message, in: chat.database) == .pending)
    let age = try #require(try await claim(chat.database).first?.recipients.first).situation.messageAge
    #expect(age >= .seconds(seconds))
    if seconds < 1000 { #expect(age < .seconds(seconds) + patience) }
  }

  @Test("a webhook that comes while its event is being recorded brings no second push", arguments: [true, false])
  func whileRecorded(_ isLeased: Bool) async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    let events = isLeased ? try await claim(chat.database) : try await claimMessages(chat.database)
    #expect(events.count == 1)
    try await withTwoSessions(chat.database) { recorder, webhook, reactor in
      let ingested = try await ingest(message, over: webhook, whileRecording: events, over: recorder, on: reactor)
      try await recorder.run("commit", on: reactor)
      _ = try await ingested.value(on: reactor)
    }
    #expect(try await claimMessages(chat.database) == [])
    #expect(try await claim(chat.database) == [])
    #expect(try await chat.database.sql("select decision, devices_accepted from tacet.push_log") == "sent|1")
    guard case .decided(let outcomes) = try await status(message, in: chat.database) else {
      Issue.record("not decided")
      return
    }
    #expect(outcomes.map(\.decision) == [.sent])
  }

  @Test(
    "what is put back into the inbox is left to the claim that asks the ledger who has it",
    arguments: ["a trigger's failure", "a replay"])
  func backInTheInbox(_ way: String) async throws {
    let chat = try await Chat(readers: 2)
    let message = try await chat.send()
    let has = """
      insert into tacet.push_log (user_id, subject_id, push_type, decision)
      values ('\(chat.readers[0])', '\(message)', 'message', 'sent')
      """
    try await chat.database.sql("delete from tacet.inbox; \(has)")
    if way == "a replay" {
      try await chat.database.sql(
        """
        insert into tacet.parked (subject_id, kind, enqueued_at, attempts, reason)
        values ('\(message)', 'message', now(), 6, 'x');
        select tacet.replay('\(message)')
        """)
    } else {
      try await chat.database.sql("select tacet.count_trigger_failure('55P03', 'x', array['\(message)'])")
      #expect(try await withStore(chat.database) { try await $0.enqueueMissed(rowsMax: 10, on: $1) } == 1)
    }
    #expect(try await claimMessages(chat.database) == [])
    #expect(try await claim(chat.database).flatMap(\.recipients).map(\.userID) == [chat.readers[1]])
  }

  @Test("a webhook that comes while a record is being rolled back leaves the event to be claimed again")
  func whileRolledBack() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    let events = try await claim(chat.database, lease: .zero)
    try await withTwoSessions(chat.database) { recorder, webhook, reactor in
      let ingested = try await ingest(message, over: webhook, whileRecording: events, over: recorder, on: reactor)
      try await recorder.run("rollback", on: reactor)
      #expect(try await ingested.value(on: reactor) == .pending)
    }
    let again = try await claim(chat.database)
    #expect(again.map(\.attempts) == [2])
    #expect(again.flatMap(\.recipients).map(\.userID) == chat.readers)
  }

  @Test("a claim that began before the record and goes on after it takes nothing that was recorded")
  func claimDuringRecord() async throws {
    let chat = try await Chat()
    try await chat.send()
    let events = try await claim(chat.database, lease: .zero)
    try await withTwoSessions(chat.database) { recorder, claimant, reactor in
      try await recorder.beginRecord(events, on: reactor) { .sent($0) }
      // The row is locked by the record, so this claim passes it by, whatever becomes of the record.
      #expect(try await claimant.claim(on: reactor) == [])
      try await recorder.run("commit", on: reactor)
    }
    #expect(try await claim(chat.database) == [])
  }

  /// Begins a transaction that records `events` as sent, and an ingest that has to wait for it.
  private func ingest(
    _ message: HostID, over webhook: Session, whileRecording events: [PushEvent], over recorder: Session,
    on reactor: isolated Reactor
  ) async throws -> Begun<EventStatus> {
    try await recorder.beginRecord(events, on: reactor) { .sent($0) }
    let ingested = Begun.begin(on: reactor) {
      try EventStatus.read(
        try await webhook.connection.query(.ingest(subjectID: message), on: reactor))
    }
    try await recorder.awaitBlocked(webhook, on: reactor)
    #expect(!ingested.isFinished)
    return ingested
  }

  private func ingest(_ message: HostID, in database: TestDatabase) async throws -> EventStatus {
    try await withStore(database) { try await $0.ingest(.message(message), on: $1) }
  }

  private func status(_ message: HostID, in database: TestDatabase) async throws -> EventStatus {
    try await withStore(database) { try await $0.status(of: .message(message), on: $1) }
  }
}

@Suite("Pushes of other servers in the store")
struct SubmittedPushTests {
  @Test("what a deleted user was to be told goes with the user, and nobody is told; another's stays")
  func forgotten() async throws {
    let chat = try await Chat(readers: 2)
    for user in chat.readers {
      let push = PushSubmission(userID: user, kind: "news", title: "News", body: "of \(user)")
      #expect(try await withStore(chat.database) { try await $0.submit(push, on: $1) } != nil)
    }
    try await chat.database.sql("delete from profiles where id = '\(chat.readers[0])'")
    try await erase(chat.database)
    let left = try await chat.database.sql("select user_id from tacet.pushes")
    #expect(left == chat.readers[1].text)
    let events = try await claim(chat.database)
    #expect(events.count == 2)
    #expect(events.flatMap(\.recipients).map(\.userID) == [chat.readers[1]])
    #expect(try await chat.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }
}

@Suite("Functions of all kinds", .uuidsOnly)
struct KindDispatchTests {
  /// Two kinds: one whose events have its name, and one for names that others choose, which knows one name.
  private static func database() async throws -> TestDatabase {
    let database = try await TestDatabase.migrated()
    for (name, kind, condition) in [("named", "'named'", "true"), ("alpha", "null", "event_kind = 'chosen'")] {
      try await database.sql(
        """
        create function tacet.\(name)_content(event_kind text, subject_id uuid) returns setof tacet.push_content
        language sql stable as $$
          select
            null::uuid, null::uuid, null::timestamptz, interval '1 minute', null::text, null::text, null::text,
            null::boolean, '{"title": "\(name)"}'::json
          where \(condition)
        $$;
        create function tacet.\(name)_audience(event_kind text, subject_id uuid, surface_id uuid)
        returns setof tacet.push_recipient language sql stable as $$
          select '\(HostID.new())'::uuid, null::timestamptz, null::timestamptz
        $$;
        call tacet.register_kind('\(name)', \(kind), 'tacet.\(name)_content', 'tacet.\(name)_audience')
        """)
    }
    return database
  }

  @Test(
    "content comes from the kind of the event's name, else from the first kind that knows the event",
    arguments: [
      ("named", "named|60000000|f|{\"title\": \"named\"}"), ("chosen", "alpha|60000000|f|{\"title\": \"alpha\"}"),
      ("unknown", ""), ("read_sync", ""),
    ])
  func content(_ kind: String, _ content: String) async throws {
    let database = try await Self.database()
    let found = try await database.sql(
      "select push_kind, life_us, is_silent, content from tacet.event_content('\(kind)', gen_random_uuid())")
    #expect(found == content)
  }

  @Test(
    "recipients come from the kind alone",
    arguments: [("'named'", "1"), ("'alpha'", "1"), ("'message'", "0"), ("null", "0")])
  func audience(_ kind: String, _ count: String) async throws {
    let database = try await Self.database()
    let found = try await database.sql(
      "select count(*) from tacet.event_audience(\(kind), 'x', gen_random_uuid(), gen_random_uuid())")
    #expect(found == count)
  }

  @Test("a kind that is registered again has its new functions, and one that was taken out has none")
  func replaced() async throws {
    let database = try await Self.database()
    try await database.sql("call tacet.register_kind('named', 'other', 'tacet.named_content', 'tacet.named_audience')")
    let content = "select count(*) from tacet.event_content('%', gen_random_uuid())"
    #expect(try await database.sql(content.replacing("%", with: "other")) == "1")
    #expect(try await database.sql(content.replacing("%", with: "named")) == "0")
    try await database.sql("delete from tacet.push_kinds where name = 'named'; call tacet.join_kinds()")
    #expect(try await database.sql(content.replacing("%", with: "other")) == "0")
  }
}
