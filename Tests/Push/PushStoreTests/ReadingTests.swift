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
