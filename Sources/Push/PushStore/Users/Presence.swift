package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// A user and what they may look at.
package struct SurfaceView: Hashable, Sendable {
  package let surface: SurfaceID

  package let userID: HostID

  package init(of surface: SurfaceID, by userID: HostID) {
    self.surface = surface
    self.userID = userID
  }
}

/// What an app says of its user.
package enum PresenceSign: Sendable {
  case looking
  case left
}

/// What one user's app has said of one surface since it was last written.
package struct PresenceReport: Equatable, Sendable {
  package private(set) var hasLooked: Bool

  /// Whether the user has left after the last look, or without any.
  package private(set) var hasLeft: Bool

  package init(_ sign: PresenceSign) {
    hasLooked = sign == .looking
    hasLeft = sign == .left
  }

  /// Takes what is said next. Leaving erases no look, and a look ends having left.
  package mutating func add(_ sign: PresenceSign) {
    hasLooked = hasLooked || sign == .looking
    hasLeft = sign == .left
  }

  package mutating func add(_ later: PresenceReport) {
    hasLooked = hasLooked || later.hasLooked
    hasLeft = later.hasLeft
  }
}

/// What a user is to a surface.
package enum SurfaceStanding: Equatable, Sendable {
  /// There is no such surface.
  case unknown
  case stranger
  case viewer
  /// The user takes part, but nothing could be written, because another session has locked the row.
  case busy
  /// The user takes part, but row-level security keeps the service from writing the rows: another try does not help.
  case unwritable

  init(_ takesPart: Bool?) {
    switch takesPart {
    case nil: self = .unknown
    case false?: self = .stranger
    case true?: self = .viewer
    }
  }
}

extension PushDatabase {
  /// Writes what apps have said of their users, and tells what each user is to the surface: one transaction.
  ///
  /// Only what viewers do is written. A row that another session has locked is not: then the view is
  /// ``SurfaceStanding/busy``, and its report should come again. It is ``SurfaceStanding/unwritable`` where no row may be
  /// written. A report that repeats what was stored seconds ago is not written, unless a push waits for it.
  package func note(
    _ reports: [SurfaceView: PresenceReport], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SurfaceView: SurfaceStanding] {
    let reports = Array(reports)
    let call = StatementCall.recordViews(
      kinds: reports.map(\.key.surface.kind), surfaceIDs: reports.map(\.key.surface.id),
      userIDs: reports.map(\.key.userID), haveLooked: reports.map(\.value.hasLooked),
      haveLeft: reports.map(\.value.hasLeft))
    var standings: [SurfaceView: SurfaceStanding] = [:]
    standings.reserveCapacity(reports.count)
    for row in try await pool.query(call, on: reactor) {
      let surface = SurfaceID(kind: try row.decode("kind"), id: try row.decode("id"))
      let standing = SurfaceStanding(try row.decode("takes_part"))
      let isSkipped: Bool = try row.decode("is_skipped")
      let view = SurfaceView(of: surface, by: try row.decode("user_id"))
      standings[view] = standing == .viewer && isSkipped ? .busy : standing
    }
    let busy = standings.filter { $0.value == .busy && $0.key.surface.kind == SurfaceID.conversationKind }.keys
    if let first = busy.first, try await hidesWrites(of: "view_conversations", in: first.surface.id, on: reactor) {
      for view in busy { standings[view] = .unwritable }
    }
    return standings
  }

  /// Whether what a function of the contract has not written is hidden from it. Asked only when it has written nothing.
  func hidesWrites(
    of function: String, in conversationID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let table = function == "mark_read" ? "public.messages" : "public.conversation_participants"
    return try await pool.query(
      .hidesWrites(function: function, tableName: table, conversationID: conversationID), on: reactor
    ).one().decode(0)
  }
}

package struct ReadReport: Equatable, Sendable {
  package let conversationID: HostID

  package let userID: HostID

  /// The last message that was read; nil for all of them.
  package let upToMessageID: HostID?

  /// The token of the device on which it was read; nil when it did not say.
  package let deviceToken: String?

  package init(conversationID: HostID, userID: HostID, upToMessageID: HostID? = nil, deviceToken: String? = nil) {
    self.conversationID = conversationID
    self.userID = userID
    self.upToMessageID = upToMessageID
    self.deviceToken = deviceToken
  }
}

package enum ReadReportOutcome: Equatable, Sendable {
  /// The user is no participant, or there is no such conversation.
  case refused(SurfaceStanding)
  case unknownMessage
  /// Messages marked by this call, unread messages left, and how long until other devices learn of it; nil when they do not.
  case marked(count: Int, badge: Int, syncWait: Duration?)
}

extension PushDatabase {
  /// Messages that one transaction marks; what `tacet.mark_read` takes at the most.
  private static let readBatch = 1000

  /// Marks messages of others as read and queues a push that tells the user's other devices.
  ///
  /// A batch of messages is one transaction; one that throws leaves what batches before it have marked.
  /// - Parameter isSynced: whether other devices are told.
  package func read(
    _ report: ReadReport, isSynced: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ReadReportOutcome {
    let call = StatementCall.readConversation(
      conversationID: report.conversationID, userID: report.userID, messageID: report.upToMessageID,
      deviceToken: report.deviceToken, isSynced: isSynced)
    var count = 0
    var syncWait: Duration?
    while true {
      let row = try await pool.query(call, on: reactor).one()
      let standing = SurfaceStanding(try row.decode("takes_part", as: Bool?.self))
      guard standing == .viewer else { return .refused(standing) }
      guard try row.decode("knows_message", as: Bool.self) else { return .unknownMessage }
      let batch: Int = try row.decode("read_count")
      count += batch
      syncWait = try row.decode("sync_wait", as: Duration?.self) ?? syncWait
      if count == 0, try await hidesWrites(of: "mark_read", in: report.conversationID, on: reactor) {
        return .refused(.unwritable)
      }
      if batch < Self.readBatch {
        let badge: Int64? = try row.decode("badge")
        return .marked(count: count, badge: self.badge(badge ?? 0), syncWait: syncWait)
      }
    }
  }

  /// Notes that a user has opened a push.
  /// - Parameter id: the ledger row's.
  /// - Returns: whether the ledger has such a push of this user.
  package func recordOpening(
    _ id: UUID, by userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(.recordOpening(logID: id, userID: userID), on: reactor).one().decode(0)
  }
}

extension PushDatabase {
  /// Moves the marks from which on users' unread messages are counted. Costs as much as what they have read since the
  /// last time, and once a day as much as all of their conversations.
  package func moveUnreadMarks(of userIDs: [HostID], on reactor: isolated Reactor) async throws(PostgresError) {
    _ = try await pool.query(.moveUnreadMarks(userIDs: userIDs), on: reactor)
  }
}

// When users were active; see db/functions/engagement.sql.
extension PushDatabase {
  /// Notes that users are active now. A user is written at most once in five minutes.
  package func noteActivity(of users: [HostID], on reactor: isolated Reactor) async throws(PostgresError) {
    _ = try await pool.query(.noteActivity(userIDs: users), on: reactor)
  }
}
