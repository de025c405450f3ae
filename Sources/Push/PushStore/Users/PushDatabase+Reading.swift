package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

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
    var syncWait: Int64?
    while true {
      let row = try await pool.query(call, on: reactor).one()
      let standing = SurfaceStanding(try row.decode("takes_part", as: Bool?.self))
      guard standing == .viewer else { return .refused(standing) }
      guard try row.decode("knows_message", as: Bool.self) else { return .unknownMessage }
      let batch: Int = try row.decode("read_count")
      count += batch
      syncWait = try row.decode("sync_wait", as: Int64?.self) ?? syncWait
      if count == 0, try await hidesWrites(of: "mark_read", in: report.conversationID, on: reactor) {
        return .refused(.unwritable)
      }
      if batch < Self.readBatch {
        let badge: Int64? = try row.decode("badge")
        return .marked(count: count, badge: self.badge(badge ?? 0), syncWait: syncWait.map { .microseconds($0) })
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
