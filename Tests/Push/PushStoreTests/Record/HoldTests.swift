import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Holds and news at the same time")
struct HoldRaceTests {
  @Test("news makes the hold claimable with its commit, and the claim knows the news", arguments: News.allCases)
  func newsFirst(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin; \(scene.sql(news))", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await host.run("commit", on: reactor)
      #expect(news.isKnown(to: try await service.claim(on: reactor)))
    }
  }

  @Test("news that is rolled back has released nothing", arguments: News.allCases)
  func rolledBack(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin; \(scene.sql(news)); rollback", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      #expect(try await service.review([scene.hold], on: reactor) == 0)
    }
  }

  @Test("a claim passes by a due hold that somebody has locked, and takes it afterwards")
  func claimDuringLock() async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { other, service, reactor in
      try await other.run("begin; select from tacet.deliveries for update", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await other.run("commit", on: reactor)
      #expect(try await service.claim(on: reactor).count == 1)
    }
  }

  @Test("news during a claim does not wait; the review after the record finds it", arguments: News.allCases)
  func newsDuringClaim(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await service.run("begin", on: reactor)
      let claimed = try await service.claim(on: reactor)
      #expect(claimed.count == 1 && !news.isKnown(to: claimed))
      try await host.run(scene.sql(news), on: reactor)
      try await service.run("commit", on: reactor)
      try await service.record(claimed, on: reactor) { .held($0) }
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test("news between a claim and its record is found by the review", arguments: News.allCases)
  func newsBeforeRecord(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await host.run(scene.sql(news), on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await service.record(claimed, on: reactor) { .held($0) }
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test(
    "news during the record of a hold, old or new, does not wait; the review finds it", arguments: News.allCases,
    [true, false])
  func newsDuringRecord(_ news: News, _ isNew: Bool) async throws {
    let scene = isNew ? try await HeldScene.waiting() : try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await service.beginRecord(claimed, on: reactor) { .held($0) }
      try await host.run(scene.sql(news), on: reactor)
      try await service.run("commit", on: reactor)
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test("news during the record of a push changes nothing, and nothing is left", arguments: News.allCases)
  func newsDuringSent(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await service.beginRecord(claimed, on: reactor) { .sent($0) }
      try await host.run(scene.sql(news), on: reactor)
      try await service.run("commit", on: reactor)
      #expect(try await service.review([scene.hold], on: reactor) == 0)
    }
    // A deleted message is taken off the screens.
    #expect(try await scene.chat.left() == (news == .deleted ? "1|0" : "0|0"))
    #expect(try await scene.chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  @Test("a record does not wait for news that is not committed", arguments: News.allCases)
  func recordDuringNews(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await host.run("begin; \(scene.sql(news))", on: reactor)
      try await service.record(claimed, on: reactor) { .held($0) }
      try await host.run("commit", on: reactor)
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test(
    "a host whose snapshot is older than the hold's last change is not failed; the review finds its news",
    arguments: News.allCases)
  func repeatableRead(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run("\(scene.sql(news)); commit", on: reactor)
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  /// What was not released by the host's transaction is released by the review, and the claim then knows why.
  private func expectReview(
    _ scene: HeldScene, finds news: News, _ service: Session, on reactor: isolated Reactor
  ) async throws {
    #expect(try await service.claim(on: reactor) == [])
    #expect(try await service.review([scene.hold], on: reactor) == 1)
    #expect(news.isKnown(to: try await service.claim(on: reactor)))
    #expect(try await service.review([scene.hold], on: reactor) == 0)
  }
}

/// Releases that a host's transaction could not make, because a hold had changed since its snapshot.
@Suite("Queued releases")
struct QueuedReleaseTests {
  @Test(
    "the release is queued with the host's commit, is no trigger failure, and is made later", arguments: News.allCases)
  func queued(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run(scene.sql(news), on: reactor)
      #expect(try await service.releaseQueued(on: reactor) == 0)
      try await host.run("commit", on: reactor)
      #expect(try await service.value("select count(*) from tacet.trigger_failures", on: reactor) == "0")
      #expect(try await service.claim(on: reactor) == [])
      #expect(try await service.releaseQueued(on: reactor) == 1)
      #expect(news.isKnown(to: try await service.claim(on: reactor)))
      #expect(try await service.releaseQueued(on: reactor) == 0)
    }
  }

  @Test("a host that rolls back has released nothing")
  func rolledBack() async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run("\(scene.sql(.seen)); rollback", on: reactor)
      #expect(try await service.releaseQueued(on: reactor) == 0)
      #expect(try await service.claim(on: reactor) == [])
    }
  }

  @Test("the service is told, though it is awake and is told of nothing else")
  func notified() async throws {
    let scene = try await HeldScene.held()
    try await withListener(scene.chat.database.configuration) { listener, wakes, _, reactor in
      let (host, service) = (
        try await Session.open(scene.chat.database, on: reactor),
        try await Session.open(scene.chat.database, on: reactor)
      )
      defer { for session in [host, service] { session.connection.close(on: reactor) } }
      try await wakes.next(on: reactor)
      listener.setAwake(true, on: reactor)
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run("\(scene.sql(.seen)); commit", on: reactor)
      while wakes.releases == 0 { try await wakes.next(on: reactor) }
    }
  }
}

extension Session {
  fileprivate func releaseQueued(on reactor: isolated Reactor) async throws -> Int64 {
    try await connection.query(.releaseQueued(releasesMax: 100), on: reactor).one().decode(0)
  }
}

@Suite("Holds that end early")
struct ReleaseTests {
  /// A message that is held for everybody for an hour.
  private func held(readers: Int = 1) async throws -> Chat {
    let chat = try await Chat(readers: readers)
    try await chat.see("now() - interval '10 s'")
    try await chat.decide {
      RecipientOutcome(userID: $0, decision: .held, reason: "user_viewing", due: .seconds(3600), remaining: .held)
    }
    return chat
  }

  /// For whom a hold is due now, in the order of the readers.
  private func released(_ chat: Chat) async throws -> [Bool] {
    let users = try await chat.database.sql("select user_id from tacet.deliveries where due_at <= clock_timestamp()")
    return chat.readers.map { users.contains($0.text) }
  }

  /// What a host does, with `$reader` for the first reader, and whether that reader's hold ends by it.
  private static let hostChanges: [(String, Bool)] = [
    ("update messages set read_by = array_append(read_by, '$reader')", true),
    ("update messages set read_by = array(select id from profiles where id <> '$reader')", false),
    ("update messages set text = 'edited', updated_at = now()", false),
    ("delete from messages", true),
    ("delete from conversations", true),
    ("update conversation_participants set last_seen = now() where user_id = '$reader'", true),
    ("update conversation_participants set tacet_left_at = now() where user_id = '$reader'", true),
    ("update conversation_participants set last_seen = null where user_id = '$reader'", true),
    ("update conversation_participants set last_seen = last_seen where user_id = '$reader'", false),
    ("update conversation_participants set last_seen = now() where user_id <> '$reader'", false),
    (
      """
      insert into conversation_participants (conversation_id, user_id, last_seen)
      select conversation_id, user_id, now() from conversation_participants where user_id = '$reader'
      on conflict (conversation_id, user_id) do update set last_seen = excluded.last_seen
      """, true
    ),
    ("delete from conversation_participants where user_id = '$reader'", true),
    ("delete from conversation_participants where user_id <> '$reader'", false),
    ("begin; delete from messages; rollback", false),
    ("insert into conversations select", false),
  ]

  @Test("a hold ends at once by what is learnt about its message and its recipient", arguments: hostChanges)
  func learnt(_ change: String, _ isReleased: Bool) async throws {
    let chat = try await held()
    let sql = change.replacing("$reader", with: chat.reader.text)
    let notified = try await notifications(of: sql, in: chat.database)
    #expect(try await released(chat) == [isReleased])
    #expect(notified == (isReleased ? 1 : 0))
    #expect(try await failures(chat.database) == "0")
  }

  @Test("one statement releases all that it concerns, and nothing else")
  func many() async throws {
    let chat = try await held(readers: 4)
    let readers = chat.readers.prefix(2).map { "'\($0)'" }.joined(separator: ", ")
    let sql = "update conversation_participants set last_seen = now() where user_id in (\(readers))"
    #expect(try await notifications(of: sql, in: chat.database) == 1)
    #expect(try await released(chat) == [true, true, false, false])
  }

  /// What a host does to many rows at once.
  private static let largeChanges = [
    "update conversation_participants set last_seen = now()",
    "update conversation_participants set tacet_left_at = now()",
    "delete from conversation_participants",
    "update messages set read_by = array[(select user_id from tacet.deliveries limit 1)]",
    "delete from messages",
  ]

  // Each row of one side with each of the other would take a minute.
  @Test("a statement of the host with twenty thousand rows stays one", arguments: largeChanges)
  func large(_ change: String) async throws {
    let chat = try await held()
    try await chat.database.sql(
      """
      with people as (insert into profiles select from generate_series(1, 20000) returning id)
      insert into conversation_participants (conversation_id, user_id) select '\(chat.id)', id from people;
      alter table messages disable trigger user;
      insert into messages (conversation_id, from_id) select '\(chat.id)', '\(chat.sender)' from generate_series(1, 20000);
      alter table messages enable trigger user;
      """)
    let planned = "begin; \(change) where conversation_id = gen_random_uuid(); rollback"
    try await chat.database.sql("\(planned); set statement_timeout = '20s'; \(change)")
    #expect(try await failures(chat.database) == "0")
    #expect(try await released(chat) == [true])
  }

  @Test("what is claimed, due already, or waits for something else is left alone")
  func leftAlone() async throws {
    let change = "update conversation_participants set last_seen = now()"
    for state in ["is_claimed = true", "state = 'retryable'", "state = 'waiting', lane = 'production'"] {
      let chat = try await held()
      try await chat.database.sql("update tacet.deliveries set \(state)")
      #expect(try await notifications(of: change, in: chat.database) == 0)
      #expect(try await released(chat) == [false], "\(state)")
    }
    let chat = try await held()
    try await chat.database.sql("update tacet.deliveries set due_at = now()")
    #expect(try await notifications(of: change, in: chat.database) == 0)
  }

  @Test("a host's update is never held up by a delivery that somebody has locked")
  func locked() async throws {
    let chat = try await held()
    try await withSessions(chat.database, 2) { sessions, reactor in
      try await sessions[0].run("begin; select from tacet.deliveries for update", on: reactor)
      try await sessions[1].run(
        "set statement_timeout = '30s'; update public.conversation_participants set last_seen = now()", on: reactor)
      try await sessions[0].run("commit", on: reactor)
    }
    #expect(try await released(chat) == [false])
  }

  @Test(
    "whatever is missing on our side, the host reads, looks, leaves and deletes", .uuidsOnly,
    arguments: [
      "drop table tacet.deliveries", "drop function tacet.release_holds(uuid[], uuid[], text[])",
      "drop schema tacet cascade",
      "alter table tacet.deliveries drop column state cascade",
    ])
  func missing(_ damage: String) async throws {
    let chat = try await held()
    try await chat.database.sql(damage)
    try await chat.database.sql("update messages set read_by = array['\(chat.reader)']::uuid[]")
    try await chat.database.sql("update conversation_participants set last_seen = now()")
    try await chat.database.sql("delete from conversation_participants")
    try await chat.database.sql("delete from messages")
    #expect(try await chat.database.sql("select count(*) from messages") == "0")
  }

  @Test("a host with presence of its own releases what a user is held in a conversation")
  func ownPresence() async throws {
    let chat = try await held(readers: 2)
    let sql = "select tacet.release_conversation('\(chat.id)', '\(chat.reader)')"
    #expect(try await notifications(of: sql, in: chat.database) == 1)
    #expect(try await released(chat) == [true, false])
    #expect(try await notifications(of: sql, in: chat.database) == 0)
  }

  @Test("a role without any right on our schema reads, looks and leaves")
  func rights() async throws {
    let chat = try await held()
    let grants =
      "grant select, update, delete on messages, conversation_participants to $role; alter role $role bypassrls"
    let role = try await makeRole(in: chat.database, grants)
    try await chat.database.sql("set role \(role); update conversation_participants set last_seen = now()")
    #expect(try await released(chat) == [true])
    #expect(try await failures(chat.database) == "0")
  }
}
