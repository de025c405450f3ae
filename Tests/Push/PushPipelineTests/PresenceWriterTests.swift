import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import PushPipeline

@Suite("The presence writer")
struct PresenceWriterTests {
  @Test("what is reported in one tick is one statement, whose callers each learn what became of theirs")
  func batch() async throws {
    try await Chat.run(of: 20) { rig, chat, reactor in
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      for user in chat.recipients { crowd.say(.looking, of: .conversation(chat.id), by: user, on: reactor) }
      crowd.say(.looking, of: .conversation(chat.id), by: HostID.new(), on: reactor)
      crowd.say(.looking, of: .conversation(HostID.new()), by: chat.sender, on: reactor)
      crowd.say(.looking, of: SurfaceID(kind: "calendar", id: HostID.new()), by: chat.sender, on: reactor)
      let answers = try await crowd.answers(on: reactor)
      #expect(answers == .init(viewers: 20, strangers: 1, unknown: 2, failures: 0))
      #expect(writer.writes == 1)
      let seen = "select count(last_seen) from public.conversation_participants"
      #expect(try await rig.value(seen, as: Int64.self, on: reactor) == 20)
    }
  }

  @Test("repeats of one user and surface are written once, and every caller is answered")
  func repeats() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      for sign in [PresenceSign.looking, .left, .looking, .left, .left] {
        crowd.say(sign, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
      }
      #expect(try await crowd.answers(on: reactor).viewers == 5)
      #expect(writer.writes == 1)
      let left = "select tacet_left_at >= last_seen from public.conversation_participants where last_seen is not null"
      #expect(try await rig.value(left, as: Bool.self, on: reactor))
    }
  }

  @Test("what comes while a statement is under way is gathered for the next")
  func gathering() async throws {
    try await Chat.run(of: 10) { rig, chat, reactor in
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      try await rig.pool.withConnection(on: reactor) { other in
        try await other.simple("begin; lock table public.conversation_participants", on: reactor)
        crowd.say(.looking, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
        while writer.writes == 0 { await reactor.sleep(for: .milliseconds(1)) }
        for user in chat.recipients { crowd.say(.looking, of: .conversation(chat.id), by: user, on: reactor) }
        try await other.simple("commit", on: reactor)
      }
      #expect(try await crowd.answers(on: reactor).viewers == 11)
      #expect(writer.writes == 2)
    }
  }

  @Test("what is more than a statement takes goes into another")
  func large() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      for _ in 0...PresenceWriter.batchMax {
        crowd.say(.left, of: .conversation(HostID.new()), by: HostID.new(), on: reactor)
      }
      let answers = try await crowd.answers(on: reactor)
      #expect(answers.unknown == PresenceWriter.batchMax + 1)
      #expect(writer.writes >= 2)
    }
  }

  @Test("a statement that fails is told to all its callers, and the next one works")
  func failure() async throws {
    try await Chat.run(of: 3) { rig, chat, reactor in
      let writer = PresenceWriter(store: rig.store)
      let renamed = "alter function tacet.view_conversations rename to view_conversations_elsewhere"
      try await rig.execute(renamed, on: reactor)
      let crowd = PresenceCrowd(writer)
      for user in chat.recipients { crowd.say(.looking, of: .conversation(chat.id), by: user, on: reactor) }
      #expect(try await crowd.answers(on: reactor).failures == 3)
      try await rig.execute(
        "alter function tacet.view_conversations_elsewhere rename to view_conversations", on: reactor)
      crowd.say(.looking, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
      #expect(try await crowd.answers(on: reactor).viewers == 1)
    }
  }

  @Test("a report that the database refuses fails alone", arguments: [1, 2, 50])
  func refused(_ count: Int) async throws {
    try await Chat.run(of: count) { rig, chat, reactor in
      try await rig.execute(
        """
        create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid) returns boolean
        language plpgsql as $$ begin raise exception 'no such thing'; end $$
        """, on: reactor)
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      for user in chat.recipients { crowd.say(.looking, of: .conversation(chat.id), by: user, on: reactor) }
      crowd.say(.looking, of: SurfaceID(kind: "calendar", id: HostID.new()), by: chat.sender, on: reactor)
      #expect(try await crowd.answers(on: reactor) == .init(viewers: count, failures: 1))
      #expect(writer.writes <= 13)
    }
  }

  @Test("a batch that is refused as a whole costs a bounded number of statements")
  func refusedWhole() async throws {
    try await PipelineRig.run { rig, reactor in
      try await rig.execute(
        "alter function tacet.view_conversations rename to view_conversations_elsewhere", on: reactor)
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      for _ in 0..<300 { crowd.say(.looking, of: .conversation(HostID.new()), by: HostID.new(), on: reactor) }
      #expect(try await crowd.answers(on: reactor) == .init(failures: 300))
      #expect(writer.writes <= 65)
    }
  }

  @Test("a row that somebody has locked keeps nobody else waiting, and is written when it is free")
  func locked() async throws {
    try await Chat.run(of: 3) { rig, chat, reactor in
      let writer = PresenceWriter(store: rig.store)
      let (crowd, late) = (PresenceCrowd(writer), PresenceCrowd(writer))
      try await rig.pool.withConnection(on: reactor) { host in
        let lock = "select from public.conversation_participants where user_id = '\(chat.recipients[0])' for update"
        try await host.simple("begin; \(lock)", on: reactor)
        for user in chat.recipients.dropFirst() { crowd.say(.left, of: .conversation(chat.id), by: user, on: reactor) }
        late.say(.looking, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
        #expect(try await crowd.answers(on: reactor).viewers == 2)
        late.say(.left, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
        try await host.simple("commit", on: reactor)
      }
      let answers = try await late.answers(on: reactor)
      #expect(answers.viewers + answers.busy == 2 && answers.failures == 0)
    }
  }

  @Test("what stays locked is said to be busy, and the host is not waited for")
  func busy() async throws {
    try await Chat.run { rig, chat, reactor in
      let writer = PresenceWriter(store: rig.store)
      let crowd = PresenceCrowd(writer)
      try await rig.pool.withConnection(on: reactor) { host in
        try await host.simple("begin; select from public.conversation_participants for update", on: reactor)
        crowd.say(.left, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
        #expect(try await crowd.answers(on: reactor) == .init(busy: 1))
        #expect(writer.writes == 4)
        try await host.simple("commit", on: reactor)
      }
      crowd.say(.left, of: .conversation(chat.id), by: chat.recipients[0], on: reactor)
      #expect(try await crowd.answers(on: reactor).viewers == 1)
    }
  }
}

/// Callers of a writer, who do not wait for each other.
private final class PresenceCrowd {
  struct Answers: Equatable {
    var viewers = 0
    var strangers = 0
    var unknown = 0
    var failures = 0
    var busy = 0
  }

  private let writer: PresenceWriter
  private let answered = Signal()
  private var pending = 0
  private var tally = Answers()

  init(_ writer: PresenceWriter) { self.writer = writer }

  func say(_ sign: PresenceSign, of surface: SurfaceID, by user: HostID, on reactor: isolated Reactor) {
    pending += 1
    reactor.start {
      do throws(PostgresError) {
        switch try await self.writer.note(sign, of: SurfaceView(of: surface, by: user), on: reactor) {
        case .viewer: self.tally.viewers += 1
        case .stranger: self.tally.strangers += 1
        case .unknown: self.tally.unknown += 1
        case .busy, .unwritable: self.tally.busy += 1
        }
      } catch {
        self.tally.failures += 1
      }
      self.pending -= 1
      self.answered.signal(on: reactor)
    }
  }

  /// Waits until everybody is answered, and begins anew.
  func answers(on reactor: isolated Reactor) async throws -> Answers {
    while pending > 0 {
      guard await answered.wait(for: patience, on: reactor) else { throw TestFailure("\(pending) wait") }
    }
    defer { tally = Answers() }
    return tally
  }
}

@Suite("The activity writer")
struct ActivityWriterTests {
  private static let known = "select count(*) from tacet.activity"

  @Test("signs of a second are one statement, and a user who was noted costs none")
  func gathering() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = ActivityWriter(store: rig.store, logger: .quiet)
      let users = (0..<20).map { _ in HostID.new() }
      for user in users + users { writer.note(user, on: reactor) }
      #expect(writer.writes == 0)
      try await rig.await(Int64(20), of: Self.known, on: reactor)
      for user in users { writer.note(user, on: reactor) }
      try await writer.write(users[0], on: reactor)
      let late = HostID.new()
      try await writer.write(late, on: reactor)
      #expect(writer.writes == 2)
      #expect(try await rig.value(Self.known, as: Int64.self, on: reactor) == 21)
    }
  }

  @Test("a user whose sign could not be written is written with the next one")
  func failure() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = ActivityWriter(store: rig.store, logger: .quiet)
      let user = HostID.new()
      try await rig.execute("alter table tacet.activity rename to lost", on: reactor)
      await #expect(throws: PostgresError.self) { try await writer.write(user, on: reactor) }
      writer.note(user, on: reactor)
      while writer.writes < 2 { await reactor.sleep(for: .milliseconds(1)) }
      try await rig.execute("alter table tacet.lost rename to activity", on: reactor)
      repeat { writer.note(user, on: reactor) } while try await rig.value(Self.known, as: Int64.self, on: reactor) == 0
    }
  }

  @Test("a million signs of one user are one statement, and users beyond the bound are left to the database")
  func bounds() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = ActivityWriter(store: rig.store, logger: .quiet)
      let user = HostID.new()
      for _ in 0..<1_000_000 { try await writer.write(user, on: reactor) }
      #expect(writer.writes == 1)
      for _ in 0..<ActivityWriter.usersMax { writer.note(HostID.new(), on: reactor) }
      try await writer.write(user, on: reactor)
      try await rig.await(Int64(ActivityWriter.usersMax) + 1, of: Self.known, on: reactor)
      #expect(try await rig.value("select count(*) from tacet.user_sessions", as: Int64.self, on: reactor) == 50_001)
    }
  }
}
