import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Reading")
struct ReadingTests {
  @Test("what others wrote is read, up to a message or all of it; what is left is the badge")
  func upTo() async throws {
    let chat = try await Chat(readers: 2)
    var messages: [HostID] = []
    for minutes in [5, 4, 3, 2] {
      messages.append(try await chat.send("'Hello'", ["created_at": "now() - interval '\(minutes) min'"]))
    }
    try await chat.send("'Mine'", from: chat.reader)
    #expect(try await chat.read(upTo: messages[1]) == .marked(count: 2, badge: 2, syncWait: nil))
    #expect(try await chat.read(upTo: messages[1]) == .marked(count: 0, badge: 2, syncWait: nil))
    #expect(try await chat.read(upTo: messages[0]) == .marked(count: 0, badge: 2, syncWait: nil))
    #expect(try await chat.read() == .marked(count: 2, badge: 0, syncWait: nil))
    let readers = "select distinct read_by from messages where from_id = '\(chat.sender)'"
    #expect(try await chat.database.sql(readers) == "{\(chat.reader)}".lowercased())
  }

  @Test("of messages of one moment those with a lower id are read up to a message")
  func tie() async throws {
    let chat = try await Chat()
    let ids = [HostID.new(), HostID.new(), HostID.new()].sorted { $0.text < $1.text }
    for id in ids {
      try await chat.database.sql(chat.insertion(of: id, "'Hello'", ["created_at": "timestamptz '2026-01-01 00:00Z'"]))
    }
    #expect(try await chat.read(upTo: ids[1]) == .marked(count: 2, badge: 1, syncWait: nil))
  }

  @Test("more than a thousand messages are read in several transactions")
  func many() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id, created_at)
      select '\(chat.id)', '\(chat.sender)', now() - n * interval '1 s' from generate_series(1, 2500) n
      """)
    #expect(try await chat.read() == .marked(count: 2500, badge: 0, syncWait: nil))
  }

  @Test("somebody else's conversation, no conversation and no message of it are told apart")
  func refusals() async throws {
    let chat = try await Chat()
    let elsewhere = try await Chat(in: chat.database)
    let message = try await elsewhere.send()
    #expect(try await chat.read(as: elsewhere.reader) == .refused(.stranger))
    #expect(try await chat.read(in: HostID.new()) == .refused(.unknown))
    #expect(try await chat.read(upTo: message) == .unknownMessage)
    #expect(try await chat.read(upTo: HostID.new()) == .unknownMessage)
  }

  @Test("a hold ends at once when its message is read, and the claim knows why")
  func release() async throws {
    let scene = try await HeldScene.held()
    #expect(try await scene.chat.read(isSynced: false) == .marked(count: 1, badge: 0, syncWait: nil))
    #expect(News.read.isKnown(to: try await claim(scene.chat.database)))
  }

  @Test("two devices that read the same at once: the second waits, and marks nothing twice")
  func sameTime() async throws {
    let chat = try await Chat()
    for _ in 0..<3 { try await chat.send() }
    let patiently = "alter function tacet.mark_read(uuid, uuid, uuid) set lock_timeout = '30s'"
    try await chat.database.sql(patiently)
    try await withSessions(chat.database, 3) { sessions, reactor in
      let (first, second, witness) = (sessions[0], sessions[1], sessions[2])
      try await first.run("begin", on: reactor)
      #expect(try await first.read(chat, on: reactor) == 3)
      let done = Signal()
      var count: Int64?
      reactor.start {
        count = try? await second.read(chat, on: reactor)
        done.signal(on: reactor)
      }
      try await witness.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(await done.wait(for: patience, on: reactor))
      #expect(count == 0)
    }
    #expect(try await chat.database.sql("select max(cardinality(read_by)) from messages") == "1")
  }

  @Test("a read gives way to a transaction of the host before it could end in a deadlock")
  func hostLocks() async throws {
    let chat = try await Chat()
    let messages = [
      try await chat.send("'a'", ["created_at": "now() - interval '2 s'"]),
      try await chat.send("'b'", ["created_at": "now() - interval '1 s'"]),
    ]
    try await withTwoSessions(chat.database) { host, app, reactor in
      let edit = "update public.messages set text = 'c' where id = "
      try await host.run("begin; \(edit)'\(messages[1])'", on: reactor)
      let read = Begun.begin(on: reactor) { try await app.read(chat, on: reactor) }
      let next = Begun.begin(on: reactor) { try await host.run("\(edit)'\(messages[0])'", on: reactor) }
      await #expect {
        _ = try await read.value(on: reactor)
      } throws: {
        ($0 as? PostgresError)?.sqlState == .lockNotAvailable
      }
      try await next.value(on: reactor)
      try await host.run("commit", on: reactor)
      #expect(try await app.read(chat, on: reactor) == 2)
    }
  }

  @Test("a push is opened once, by its user alone")
  func opened() async throws {
    let chat = try await Chat()
    let id = UUID()
    try await chat.database.sql(
      """
      insert into tacet.push_log (id, user_id, subject_id, push_type, decision)
      values ('\(id)', '\(chat.reader)', gen_random_uuid(), 'message', 'sent')
      """)
    for (user, push, isKnown) in [(chat.sender, id, false), (chat.reader, UUID(), false), (chat.reader, id, true)] {
      #expect(try await withStore(chat.database) { try await $0.recordOpening(push, by: user, on: $1) } == isKnown)
      #expect(try await chat.database.sql("select opened from tacet.push_log") == (isKnown ? "t" : "f"))
    }
    let row = try await chat.database.sql("select ctid from tacet.push_log")
    #expect(try await withStore(chat.database) { try await $0.recordOpening(id, by: chat.reader, on: $1) })
    #expect(try await chat.database.sql("select ctid from tacet.push_log") == row)
  }
}

@Suite("Telling other devices of reads")
struct ReadSyncTests {
  /// A chat whose reader has two devices, with messages that have been pushed already.
  private func scene(messages count: Int = 1) async throws -> (chat: Chat, messages: [HostID]) {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.register("bb")
    var messages: [HostID] = []
    for number in 0..<count {
      messages.append(try await chat.send("'Hello'", ["created_at": "now() - interval '\(count - number) min'"]))
    }
    try await chat.database.sql("delete from tacet.inbox")
    return (chat, messages)
  }

  @Test("the other devices are told, and nothing keeps the push back")
  func others() async throws {
    let (chat, messages) = try await scene()
    try await chat.see("now()")
    #expect(try await chat.read(on: "AA") == .marked(count: 1, badge: 0, syncWait: .zero))
    let event = try #require(try await claim(chat.database).first)
    #expect(event.subject.kind == "read_sync")
    #expect(event.readSync?.messageIDs == messages && event.readSync?.hasMore == false)
    #expect(event.surfaceID == chat.id)
    let recipient = try #require(event.recipients.first)
    #expect(event.recipients.count == 1 && recipient.userID == chat.reader && recipient.isParticipant)
    #expect(recipient.targets.map(\.address) == ["bb"])
    #expect(recipient.situation.lastSeenAge == nil && !recipient.situation.hasRead)
  }

  @Test(
    "a browser says by its mark that it has read, and is not told",
    arguments: [("8fa421cf2002c453bb5ef348c0f4a05b", ["aa", "bb"]), ("aa", ["bb", "https://push/old"])])
  func browser(_ reading: String, _ told: [String]) async throws {
    let (chat, _) = try await scene()
    try await chat.database.sql(
      "insert into tacet.targets (channel, address, user_id) values ('web_push', 'https://push/old', '\(chat.reader)')")
    try await chat.read(on: reading)
    #expect(
      try await claim(chat.database).first?.recipients.flatMap(\.targets).map(\.address).sorted() == told)
  }

  @Test("a browser that has read alone queues nothing")
  func onlyBrowser() async throws {
    let (chat, _) = try await scene()
    try await chat.database.sql(
      """
      delete from push_tokens;
      insert into tacet.targets (channel, address, user_id) values ('web_push', 'https://push/old', '\(chat.reader)')
      """)
    #expect(
      try await chat.read(on: "8fa421cf2002c453bb5ef348c0f4a05b") == .marked(count: 1, badge: 0, syncWait: nil))
  }

  @Test("without a device that has not read, without anything read, or switched off nothing is queued")
  func nobody() async throws {
    let (chat, messages) = try await scene(messages: 3)
    #expect(try await chat.read(upTo: messages[0], isSynced: false) == .marked(count: 1, badge: 2, syncWait: nil))
    #expect(try await chat.read(upTo: messages[0]) == .marked(count: 0, badge: 2, syncWait: nil))
    try await chat.database.sql("delete from push_tokens where device_token = 'bb'")
    #expect(try await chat.read(upTo: messages[1], on: "aa") == .marked(count: 1, badge: 1, syncWait: nil))
    #expect(try await chat.left() == "0|0")
  }

  @Test("what is read while a push waits is added to it, and the badge is that of its claim")
  func coalesced() async throws {
    let (chat, messages) = try await scene(messages: 3)
    try await chat.read(upTo: messages[0], on: "aa")
    try await chat.read(upTo: messages[1], on: "aa")
    let events = try await claim(chat.database)
    #expect(events.map(\.readSync?.messageIDs) == [[messages[0], messages[1]]])
    #expect(events.flatMap(\.recipients).map(\.badge) == [1])
    #expect(events.flatMap(\.recipients).flatMap(\.targets).map(\.address) == ["bb"])
  }

  @Test("reads on two devices are told to both")
  func twoDevices() async throws {
    let (chat, messages) = try await scene(messages: 2)
    try await chat.read(upTo: messages[0], on: "aa")
    try await chat.read(upTo: messages[1], on: "bb")
    let devices = try await claim(chat.database).flatMap(\.recipients).flatMap(\.targets)
    #expect(devices.map(\.address).sorted() == ["aa", "bb"])
  }

  @Test(
    "after a push the next one waits for ten seconds; what is read meanwhile, wherever, is one push, and is not old then"
  )
  func pace() async throws {
    let (chat, messages) = try await scene(messages: 3)
    let others = (HostID.new(), HostID.new())
    try await chat.database.sql(
      """
      insert into conversations (id) values ('\(others.0)'), ('\(others.1)');
      insert into conversation_participants (conversation_id, user_id)
      values ('\(others.0)', '\(chat.reader)'), ('\(others.1)', '\(chat.reader)');
      insert into messages (conversation_id, from_id)
      values ('\(others.0)', '\(chat.sender)'), ('\(others.1)', '\(chat.sender)');
      delete from tacet.inbox
      """)
    try await chat.read(upTo: messages[0])
    #expect(try await claim(chat.database).count == 1)
    try await chat.read(upTo: messages[1])
    try await chat.read(in: others.0)
    try await chat.read(in: others.1)
    try await chat.read(upTo: messages[2])
    #expect(try await claim(chat.database) == [])
    let waits =
      "select round(extract(epoch from max(available_at) - min(available_at))), count(*) from tacet.read_syncs"
    #expect(try await chat.database.sql(waits) == "10|2")
    let lateness = "select i.enqueued_at = i.available_at from tacet.inbox i where not i.is_claimed"
    #expect(try await chat.database.sql(lateness) == "t")
    try await chat.database.sql("update tacet.inbox set available_at = now() where not is_claimed")
    let event = try #require(try await claim(chat.database).first)
    #expect(event.readSync?.messageIDs.count == 4 && event.readSync?.messageIDs.last == messages[2])
    #expect(event.surfaceID == nil && event.recipients.map(\.situation.isDeleted) == [false])
  }

  @Test("a push names the newest ninety messages, and says that there were more", arguments: [90, 91, 1100])
  func large(_ count: Int) async throws {
    let (chat, _) = try await scene()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id, created_at)
      select '\(chat.id)', '\(chat.sender)', now() + n * interval '1 s' from generate_series(2, \(count)) n;
      delete from tacet.inbox
      """)
    try await chat.read()
    let sync = try #require(try await claim(chat.database).first?.readSync)
    let newest = try await chat.database.sql("select id from messages order by created_at desc limit 90")
    #expect(
      sync.messageIDs.reversed().map { $0.text } == newest.split(separator: "\n").map(String.init))
    #expect(sync.hasMore == (count > 90))
  }

  @Test("a read that is not committed keeps the claim from the push it is added to, and is not lost")
  func claimDuringRead() async throws {
    let (chat, messages) = try await scene(messages: 2)
    try await chat.read(upTo: messages[0])
    try await withTwoSessions(chat.database) { app, service, reactor in
      try await app.run("begin", on: reactor)
      try await app.read(chat, on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await app.run("commit", on: reactor)
      #expect(try await service.claim(on: reactor).map(\.readSync?.messageIDs) == [messages])
    }
  }

  @Test("a read during a claim waits for it, and makes a push of its own")
  func readDuringClaim() async throws {
    let (chat, messages) = try await scene(messages: 2)
    try await chat.read(upTo: messages[0])
    try await withSessions(chat.database, 3) { sessions, reactor in
      let (app, service, witness) = (sessions[0], sessions[1], sessions[2])
      try await service.run("begin", on: reactor)
      let claimed = try await service.claim(on: reactor)
      #expect(claimed.map(\.readSync?.messageIDs) == [[messages[0]]])
      let done = Signal()
      var count: Int64?
      reactor.start {
        count = try? await app.read(chat, on: reactor)
        done.signal(on: reactor)
      }
      try await witness.awaitBlocked(app, on: reactor)
      try await service.run("commit", on: reactor)
      #expect(await done.wait(for: patience, on: reactor))
      #expect(count == 1)
      try await service.record(claimed, on: reactor) { .sent($0) }
    }
    try await chat.database.sql("update tacet.inbox set available_at = now()")
    #expect(try await claim(chat.database).map(\.readSync?.messageIDs) == [[messages[1]]])
  }

  /// Deletes a message as hosts do: for good, by a column, or through a function of the contract.
  private static let deletions = [
    ("delete from messages where id = '@'", false), ("update messages set deleted_at = now() where id = '@'", true),
    ("select tacet.release_message('@')", false),
  ]

  @Test("a deleted message is taken off the screens of all to whom it was pushed", arguments: deletions)
  func deleted(_ deletion: String, hasColumn: Bool) async throws {
    let database = try await TestDatabase.withHostTables()
    if hasColumn { try await database.sql("alter table messages add deleted_at timestamptz") }
    try await database.migrate()
    let chat = try await Chat(readers: 3, in: database)
    for reader in chat.readers { try await chat.register("\(reader)", of: reader) }
    let (message, other) = (try await chat.send(), try await chat.send())
    let skipped = chat.readers[1]
    try await chat.record(try await claim(database)) { $0 == skipped ? .skipped($0) : .sent($0) }
    try await database.sql(deletion.replacing("@", with: message.text))
    let event = try #require(try await claim(database).first)
    #expect(event.subject.kind == "read_sync" && event.readSync?.messageIDs == [message])
    #expect(event.recipients.map(\.userID) == [chat.readers[0], chat.readers[2]])
    #expect(event.recipients.allSatisfy { $0.targets.count == 1 && $0.isParticipant })
    try await chat.record([event]) { .sent($0) }
    #expect(try await chat.left() == "0|0")
    #expect(try await database.sql("select count(*) from tacet.trigger_failures") == "0")
    _ = other
  }

  @Test("what was not pushed, or a week ago, queues nothing; a push that may be under way is cleared after its time")
  func deletedUnpushed() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.record(try await claim(chat.database)) { .skipped($0) }
    try await chat.database.sql("delete from messages")
    #expect(try await chat.left() == "0|0")
    try await chat.send()
    try await chat.record(try await claim(chat.database)) { .sent($0) }
    try await chat.database.sql(
      "update tacet.push_log set enqueued_at = now() - interval '8 days'; delete from messages")
    #expect(try await chat.left() == "0|0")
    try await chat.send()
    let claimed = try await claim(chat.database)
    try await chat.database.sql("delete from messages")
    try await chat.record(claimed) { .sent($0) }
    #expect(try await claim(chat.database).isEmpty)
    try await chat.database.sql(
      "update tacet.inbox set available_at = now() where available_at <= now() + '10 s'")
    #expect(try await claim(chat.database).first?.recipients.map(\.userID) == [chat.reader])
  }

  @Test("a conversation that is deleted makes a push of ninety messages, and of a thousand at the most")
  func deletedMany() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (id, conversation_id, from_id, text, created_at)
      select gen_random_uuid(), '\(chat.id)', '\(chat.sender)', 'x', now() - n * interval '1 second'
      from generate_series(1, 1200) n;
      insert into tacet.push_log (subject_id, user_id, push_type, decision)
      select m.id, '\(chat.reader)', 'message', 'sent' from messages m;
      delete from tacet.inbox
      """)
    let newest = try await chat.database.sql("select id from messages order by created_at desc limit 1")
    try await chat.database.sql("delete from messages")
    #expect(
      try await chat.database.sql(
        """
        select count(*), sum(cardinality(message_ids)), max(cardinality(message_ids)),
          count(*) filter (where message_ids[90] = '\(newest)')
        from tacet.read_syncs
        """) == "12|1000|90|1")
  }

  @Test("reads and claims at the same time lose no message")
  func stress() async throws {
    let (chat, messages) = try await scene(messages: 60)
    try await withTwoSessions(chat.database) { app, service, reactor in
      let done = Signal()
      var isDone = false
      reactor.start {
        for message in messages { _ = try? await app.read(chat, upTo: message, on: reactor) }
        isDone = true
        done.signal(on: reactor)
      }
      var told: [HostID] = []
      var isLast = false
      while !isLast {
        isLast = isDone
        try await service.run("update tacet.inbox set available_at = now() where not is_claimed", on: reactor)
        let claimed = try await service.claim(on: reactor)
        told += claimed.flatMap { $0.readSync?.messageIDs ?? [] }
        try await service.record(claimed, on: reactor) { .sent($0) }
      }
      #expect(told.sorted { $0.text < $1.text } == messages.sorted { $0.text < $1.text })
    }
  }
}
