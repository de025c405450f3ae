import Foundation
import Postgres
package import PushRules
import Reactors
import TestIDs
import Testing

@testable package import PushStore

/// A conversation in a test's database, with one sender and some who may be told.
struct Chat: Sendable {
  let database: TestDatabase
  let id: HostID
  let sender: HostID
  /// In the order of their ids, which is the order of a ledger look-up.
  let readers: [HostID]

  var reader: HostID { readers[0] }

  /// - Parameter database: migrated; a new one without it.
  init(readers count: Int = 1, in database: TestDatabase? = nil) async throws {
    if let database {
      self.database = database
    } else {
      self.database = try await TestDatabase.migrated()
    }
    id = HostID.new()
    sender = HostID.new()
    readers = (0..<count).map { _ in HostID.new() }.sorted { $0.text < $1.text }
    let people = [sender] + readers
    let profiles = people.map { "('\($0)', \($0 == sender ? "'Ada'" : "null"))" }.joined(separator: ", ")
    let participants = people.map { "('\(id)', '\($0)')" }.joined(separator: ", ")
    try await self.database.sql(
      """
      insert into profiles (id, name) values \(profiles);
      insert into conversations (id) values ('\(id)');
      insert into conversation_participants (conversation_id, user_id) values \(participants)
      """)
  }

  /// Inserts a message as an app does.
  /// - Parameters:
  ///   - text: an SQL expression.
  ///   - columns: further columns and the SQL expressions for them.
  @discardableResult
  func send(_ text: String = "'Hello'", _ columns: [String: String] = [:], from: HostID? = nil) async throws -> HostID {
    let message = HostID.new()
    try await database.sql(insertion(of: message, text, columns, from: from))
    return message
  }

  /// The statement that sends a message.
  func insertion(
    of message: HostID, _ text: String = "'Hello'", _ columns: [String: String] = [:], from: HostID? = nil
  ) -> String {
    let names = columns.keys.sorted()
    let columnList = (["id", "conversation_id", "from_id", "text"] + names).joined(separator: ", ")
    let values = ["'\(message)'", "'\(id)'", "'\(from ?? sender)'", text] + names.map { columns[$0] ?? "null" }
    return "insert into public.messages (\(columnList)) values (\(values.joined(separator: ", ")))"
  }

  /// Registers a device token of the first reader.
  func register(_ token: String, _ columns: [String: String] = [:], of user: HostID? = nil) async throws {
    let names = columns.keys.sorted()
    let columnList = (["user_id", "device_token"] + names).joined(separator: ", ")
    let values = ["'\(user ?? reader)'", "'\(token)'"] + names.map { columns[$0] ?? "null" }
    try await database.sql("insert into push_tokens (\(columnList)) values (\(values.joined(separator: ", ")))")
  }

  /// Says when a reader was last seen, and perhaps when they left; SQL expressions.
  func see(_ lastSeen: String, left: String = "null", user: HostID? = nil) async throws {
    try await database.sql(
      """
      update conversation_participants set last_seen = \(lastSeen), tacet_left_at = \(left)
      where user_id = '\(user ?? reader)'
      """)
  }
}

extension Chat {
  /// Sends a message unless something waits already, claims, and records an outcome for every recipient.
  func decide(_ outcome: @escaping @Sendable (HostID) -> RecipientOutcome) async throws {
    if try await left() == "0|0" { try await send() }
    try await record(try await claim(database), outcome)
  }

  /// Records an outcome for every recipient of claimed events.
  func record(
    _ events: [PushEvent], dead: [DeadTarget] = [],
    _ outcome: @escaping @Sendable (HostID) -> RecipientOutcome
  ) async throws {
    #expect(!events.isEmpty)
    let decided = events.enumerated().map { number, event in
      DecidedEvent(
        event: event, outcomes: event.recipients.map { outcome($0.userID) }, deadTargets: number == 0 ? dead : [],
        wokenBy: "notify")
    }
    try await withStore(database) { try await $0.record(decided, on: $1) }
  }

  /// Records a retry at once, with devices that wait for longer.
  func retry(_ events: [PushEvent], waits: [String: DeviceWait]) async throws {
    try await record(events) { user in
      var outcome = RecipientOutcome(
        userID: user, decision: .held, reason: "http_503", due: .zero, remaining: .retryable)
      outcome.deviceWaits = waits
      return outcome
    }
  }

  /// The ledger in every column a record writes.
  func ledger() async throws -> String {
    try await database.sql(
      """
      select push_type, decision, reason, '', devices_accepted, attempts, woken_microseconds, decided_microseconds,
        accepted_microseconds, coalesce(held_until, sent_at) - claimed_at, '', opened, woken_by, content, metadata
      from tacet.push_log where enqueued_at <= claimed_at
      """)
  }

  /// The one row of remaining work.
  func delivery() async throws -> String {
    try await database.sql(
      """
      select d.state, d.attempts, d.due_at - l.claimed_at, d.accepted_devices, d.enqueued_at = l.enqueued_at
      from tacet.deliveries d join tacet.push_log l using (subject_id, user_id)
      """)
  }

  /// Rows in the inbox and in the queue.
  func left() async throws -> String {
    try await database.sql("select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries)")
  }
}

extension Chat {
  /// Reports what the first reader's app says.
  func report(_ report: PresenceReport) async throws {
    let view = SurfaceView(of: .conversation(id), by: reader)
    _ = try await withStore(database) { try await $0.note([view: report], on: $1) }
  }

  /// Whether somebody was ever seen, and has left since, in words.
  func presence(of user: HostID) async throws -> String {
    try await database.sql(
      """
      select concat_ws(', ', case when last_seen is not null then 'seen' end,
        case when tacet_left_at >= coalesce(last_seen, tacet_left_at) then 'left' end)
      from conversation_participants where conversation_id = '\(id)' and user_id = '\(user)'
      """)
  }

  /// The first reader's row and where it stands: another text whenever it was written.
  func row() async throws -> String {
    try await database.sql(
      "select ctid, xmin, last_seen, tacet_left_at from conversation_participants where user_id = '\(reader)'")
  }
}

extension Session {
  /// Writes the same report of users of a chat, in the order given.
  func note(
    _ chat: Chat, _ users: [HostID], _ report: PresenceReport, on reactor: isolated Reactor
  ) async throws {
    let count = users.count
    try await connection.query(
      .recordViews(
        kinds: [String](repeating: SurfaceID.conversationKind, count: count),
        surfaceIDs: [HostID](repeating: chat.id, count: count), userIDs: users,
        haveLooked: [Bool](repeating: report.hasLooked, count: count),
        haveLeft: [Bool](repeating: report.hasLeft, count: count)), on: reactor)
  }

  /// Writes a report of the first reader.
  func note(_ chat: Chat, _ report: PresenceReport, on reactor: isolated Reactor) async throws {
    try await note(chat, [chat.reader], report, on: reactor)
  }
}

extension Chat {
  /// Reports what the first reader, or somebody else, has read here, or elsewhere.
  @discardableResult
  func read(
    upTo message: HostID? = nil, as user: HostID? = nil, in conversation: HostID? = nil, on device: String? = nil,
    isSynced: Bool = true
  ) async throws -> ReadReportOutcome {
    let report = ReadReport(
      conversationID: conversation ?? id, userID: user ?? reader, upToMessageID: message, deviceToken: device)
    return try await withStore(database) { try await $0.read(report, isSynced: isSynced, on: $1) }
  }
}

extension Session {
  /// Reads everything as the first reader.
  /// - Returns: messages marked.
  @discardableResult
  func read(
    _ chat: Chat, upTo message: HostID? = nil, on reactor: isolated Reactor
  ) async throws -> Int64 {
    let rows = try await connection.query(
      .readConversation(
        conversationID: chat.id, userID: chat.reader, messageID: message, deviceToken: String?.none, isSynced: true),
      on: reactor)
    return try rows.one().decode("read_count")
  }
}

extension PushEvent {
  /// What the event says, as one of its kinds.
  var message: MessagePush? { content as? MessagePush }
  var readSync: ReadSyncPush? { content as? ReadSyncPush }
  var watchedRow: WatchedRowPush? { content as? WatchedRowPush }
}

extension PushEvent: Equatable {
  /// Whether all their members are equal, written out.
  package static func == (one: PushEvent, other: PushEvent) -> Bool { "\(one)" == "\(other)" }
}

extension MessagePush: Equatable {
  /// Whether they say the same.
  package static func == (one: MessagePush, other: MessagePush) -> Bool { "\(one)" == "\(other)" }
}

extension WatchedRowPush: Equatable {
  /// Whether they say the same.
  package static func == (one: WatchedRowPush, other: WatchedRowPush) -> Bool { "\(one)" == "\(other)" }
}
