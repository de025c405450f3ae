import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("What is known of an event")
struct ExplainTests {
  private func records(
    _ database: TestDatabase, _ subject: HostID, kind: String? = nil, user: HostID? = nil, max: Int = 1000
  ) async throws -> EventRecords {
    let records = try await withStore(database) { store, reactor in
      try await store.records(
        ofSubject: subject, kind: kind ?? "message", userID: user, recipientsMax: max, on: reactor)
    }
    return try #require(records.first)
  }

  @Test("of a message that waits: its row, its inbox, its people, and nothing else")
  func waiting() async throws {
    let chat = try await Chat(readers: 2)
    let message = try await chat.send()
    let found = try await records(chat.database, message)
    #expect(found.event.inbox?.isClaimed == false && found.event.inbox?.attempts == 0)
    #expect(found.event.source?.actorID == chat.sender && found.event.source?.createdAt != nil)
    #expect(found.event.enqueuedAt == found.event.inbox?.enqueuedAt && found.event.trigger == "O")
    #expect(found.event.recordedCount == 0 && found.event.serviceSeenAt == nil && found.event.parked == nil)
    #expect(Set(found.recipients.map(\.userID)) == Set(chat.readers + [chat.sender]))
    #expect(found.recipients.filter(\.isActor).map(\.userID) == [chat.sender])
    #expect(found.recipients.allSatisfy { $0.isParticipant && $0.ledger == nil && $0.delivery == nil })
    #expect(!found.hasMore)
  }

  @Test("of what waits its owner is told, with the end of its lease, and of a process that is gone the id alone")
  func owner() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    #expect(try await records(chat.database, message).event.owner == nil)
    try await chat.database.sql(
      "select tacet.hold_shards('7f3a', 'push-1', 4711, '1', 600000000)"
    )
    let found = try await records(chat.database, message).event
    let owner = try #require(found.owner)
    #expect(owner.id == "7f3a" && owner.host == "push-1" && owner.pid == 4711)
    #expect(try #require(owner.leaseUntil) > found.now)
    try await chat.database.sql("update tacet.instances set stopped_at = now()")
    let stopped = try await records(chat.database, message).event
    #expect(try #require(stopped.owner?.leaseUntil) <= stopped.now)
    try await chat.database.sql("delete from tacet.instances")
    #expect(try await records(chat.database, message).event.owner == OwnerFacts(id: "7f3a"))
    try await chat.record(try await claim(chat.database)) {
      RecipientOutcome(userID: $0, decision: .skipped, reason: "muted")
    }
    #expect(try await records(chat.database, message).event.owner == nil)
  }

  @Test(
    "of a user: the newest events of which the ledger has the user, as far back as was asked, and of that user alone")
  func ofUser() async throws {
    let chat = try await Chat(readers: 2)
    var messages: [HostID] = []
    for age in ["3 h", "2 h", "1 h"] {
      messages.insert(try await chat.send(), at: 0)
      try await chat.record(try await claim(chat.database)) {
        RecipientOutcome(userID: $0, decision: .skipped, reason: "muted")
      }
      try await chat.database.sql(
        "update tacet.push_log set enqueued_at = now() - interval '\(age)' where subject_id = '\(messages[0])'")
    }
    _ = try await chat.send()
    let user = chat.readers[1]
    for (hours, max, expected) in [(4, 9, 3), (4, 2, 2), (2, 9, 1), (1, 9, 0)] {
      let found = try await withStore(chat.database) { store, reactor in
        try await store.records(ofUser: user, since: .seconds(hours * 3600), eventsMax: max, on: reactor)
      }
      #expect(found.map(\.event.subjectID) == Array(messages.prefix(expected)))
      #expect(found.allSatisfy { $0.recipients.map(\.userID) == [user] })
    }
  }

  @Test("of a held push: the ledger, what remains and what ended it, devices in use and dropped, shortened")
  func held() async throws {
    let chat = try await Chat()
    try await chat.register("aaaaaaaaaaaa", ["app": "'com.example.app'", "environment": "'sandbox'"])
    try await chat.register("bbbbbbbbbbbb", ["invalidated_at": "now()", "invalidation_reason": "'Unregistered'"])
    let message = try await chat.send()
    try await chat.record(try await claim(chat.database)) {
      RecipientOutcome(userID: $0, decision: .held, reason: "user_viewing", due: .seconds(60), remaining: .held)
    }
    try await chat.database.sql("select tacet.release_user('\(chat.reader)')")
    let found = try await records(chat.database, message, user: chat.reader)
    let recipient = try #require(found.recipients.first)
    #expect(found.recipients.count == 1)
    #expect(recipient.ledger?.decision == .held && recipient.ledger?.reason == "user_viewing")
    #expect(recipient.delivery?.state == "held" && recipient.delivery?.releasedBy != nil)
    #expect(recipient.delivery?.releasedAt != nil)
    #expect(recipient.devices.map(\.device) == ["aaaaaaaa", "bbbbbbbb"])
    #expect(recipient.devices.map(\.dropReason) == [nil, "Unregistered"])
    #expect(recipient.devices.first?.environment == "sandbox")
    #expect(found.event.recordedCount == 1 && found.event.inbox == nil)
  }

  @Test("a stranger who is asked about is answered, whatever is known")
  func stranger() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    let stranger = HostID.new()
    let found = try await records(chat.database, message, user: stranger)
    #expect(found.recipients.map(\.userID) == [stranger])
    #expect(found.recipients.first?.isParticipant == false)
  }

  @Test("of many recipients as many are told about as are asked for, and it is said that there are more")
  func bounded() async throws {
    let chat = try await Chat(readers: 5)
    let message = try await chat.send()
    let all = (chat.readers + [chat.sender]).sorted { $0.text < $1.text }
    let some = try await records(chat.database, message, max: 5)
    #expect(some.recipients.map(\.userID) == Array(all.prefix(5)) && some.hasMore)
    #expect(try await records(chat.database, message, max: 6).hasMore == false)
  }

  @Test("errors of triggers count when they are near, and say whether they concern the event")
  func triggerFailures() async throws {
    let chat = try await Chat()
    let message = try await chat.send("'Hello'", ["created_at": "now()"])
    try await chat.database.sql(
      """
      insert into tacet.trigger_failures (failed_at, sqlstate, message, subject_ids) values
        (now() + interval '1 second', '55P03', 'x', array['\(message)'::uuid]), (now() + interval '2 seconds', '57014', 'x', '{}'),
        (now() + interval '2 hours', '57014', 'x', '{}')
      """)
    let failures = try await records(chat.database, message).event.triggerFailures
    #expect(failures.map(\.sqlState) == ["55P03", "57014"])
    #expect(failures.map(\.concernsEvent) == [true, false])
  }

  @Test("a trigger that is off or gone is told")
  func trigger() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql("alter table messages disable trigger tacet_message_inserted")
    #expect(try await records(chat.database, message).event.trigger == "D")
    try await chat.database.sql("drop trigger tacet_message_inserted on messages")
    #expect(try await records(chat.database, message).event.trigger == "missing")
  }

  @Test("what was set aside, for an event and for a user")
  func parked() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      insert into tacet.parked (enqueued_at, attempts, subject_id, user_id, kind, reason) values
        (now(), 7, '\(message)', null, 'message', 'event'), (now(), 8, '\(message)', '\(chat.reader)', 'message', 'user')
      """)
    let found = try await records(chat.database, message, user: chat.reader)
    #expect(found.event.parked?.reason == "event" && found.event.parked?.attempts == 7)
    #expect(found.recipients.first?.parked?.reason == "user")
  }

  @Test("a message for which the host's function fails is told from Tacet's tables, and the failure is said")
  func hostFails() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      insert into tacet.parked (enqueued_at, attempts, subject_id, user_id, kind, reason)
      values (now(), 7, '\(message)', '\(chat.reader)', 'message', 'broken');
      alter function tacet.message_context(uuid) rename to whole_context;
      create function tacet.message_context(message_id uuid) returns setof record language plpgsql stable as
      $$ begin raise 'broken'; end $$
      """.replacing("returns setof record", with: "returns table (\(Self.contextColumns))"))
    let kinds = try await withStore(chat.database) { store, reactor in try await store.kinds(of: message, on: reactor) }
    #expect(kinds == ["message"])
    let found = try await records(chat.database, message)
    #expect(found.event.hostFailure == "SQLSTATE P0001" && found.event.source == nil && found.event.inbox != nil)
    #expect(found.recipients.map(\.userID) == [chat.reader])
    #expect(found.recipients.first?.parked?.reason == "broken")
  }

  private static let contextColumns = """
    conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
    prior_read_by uuid[], prior_touched_at timestamptz
    """

  @Test("entries of histories bound the recipients, and there is always one")
  func entries() async throws {
    let chat = try await Chat(readers: 3)
    let message = try await chat.send()
    try await chat.decide { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    let entry =
      #"{"claim":1,"at":1,"by":"a","woken_by":"poll","woken_us":0,"decided_us":0,"known":{},"decision":"sent"}"#
    try await chat.database.sql("delete from messages; update tacet.push_log set history = '[\(entry), \(entry)]'")
    for (max, count) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)] {
      let found = try await withStore(chat.database) { store, reactor in
        try await store.records(ofSubject: message, kind: "message", entriesMax: max, on: reactor)[0]
      }
      #expect(found.recipients.count == count && found.hasMore == (count < 3), "\(max)")
    }
  }

  @Test("when a push was opened is noted once")
  func opened() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.decide { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    let id = try #require(UUID(uuidString: try await chat.database.sql("select id from tacet.push_log")))
    for _ in 0..<2 {
      let isKnown = try await withStore(chat.database) { store, reactor in
        try await store.recordOpening(id, by: chat.reader, on: reactor)
      }
      #expect(isKnown)
    }
    let ledger = try #require(try await records(chat.database, message, user: chat.reader).recipients.first?.ledger)
    #expect(ledger.opened && ledger.openedAt != nil)
  }

  @Test("an id is the subject of every kind that has a trace of it; of none when nobody knows it")
  func kinds() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      "insert into tacet.push_log (user_id, subject_id, push_type, decision) values ('\(chat.reader)', '\(message)', 'an_edit', 'sent')"
    )
    let kinds = try await withStore(chat.database) { store, reactor in
      [try await store.kinds(of: message, on: reactor), try await store.kinds(of: HostID.new(), on: reactor)]
    }
    #expect(kinds == [["message", "an_edit"], []])
  }

  @Test("tokens in use come from the host's function, also where an empty table of the default's is there")
  func ownDevices() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      create or replace function tacet.device_tokens(user_id uuid)
      returns table (device_token text, environment text, app text)
      language sql stable as $$ select 'cccccccccccc', null::text, null::text $$
      """)
    let found = try await records(chat.database, message, user: chat.reader)
    #expect(found.recipients.first?.devices == [DeviceFacts(device: "cccccccc")])
  }

  @Test("a host without the default's tokens table is told of the tokens in use")
  func otherTables() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      drop table push_tokens cascade;
      create or replace function tacet.device_tokens(user_id uuid)
      returns table (device_token text, environment text, app text)
      language sql stable as $$ select 'cccccccccccc', null::text, null::text $$
      """)
    let found = try await records(chat.database, message, user: chat.reader)
    #expect(found.recipients.first?.devices == [DeviceFacts(device: "cccccccc")])
  }
}
