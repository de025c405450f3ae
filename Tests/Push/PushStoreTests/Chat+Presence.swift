import Foundation
import Postgres
import PushRules
import Reactors

@testable import PushStore

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
