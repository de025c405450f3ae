package import Postgres
package import PushRules
package import Reactors

/// A message that may be pushed to one recipient, unless it folds into the notification of its burst.
package struct FoldableMessage: Sendable {
  let subject: PushSubject
  let userID: HostID
  let conversationID: HostID
  let enqueuedAt: Int64
  let lookedAt: Int64?
  let attempts: Int

  /// Of a claimed message; nil for an event of another kind.
  package init?(_ event: PushEvent, to recipient: PushRecipient) {
    guard event.subject.kind == MessagePush.name, let conversationID = event.surfaceID else { return nil }
    subject = event.subject
    userID = recipient.userID
    self.conversationID = conversationID
    enqueuedAt = event.enqueuedAt
    let age = recipient.situation.lastSeenAge?.wholeMicroseconds ?? -1
    lookedAt = age < 0 ? nil : event.claimedAt - age
    attempts = event.attempts
  }
}

/// What a message does in its burst.
package struct FoldedMessage: Equatable, Sendable {
  package let decision: FoldDecision
  /// The message that sounded.
  package let first: PushSubject
  /// Messages of the burst besides the one that is shown.
  package let more: Int
}

extension PushDatabase {
  /// Decides which of these messages sound, and keeps the books of their bursts.
  /// - Returns: as many decisions, in the same order.
  package func fold(
    _ messages: [FoldableMessage], by policy: FoldPolicy, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [FoldedMessage] {
    let rows = try await pool.query(
      .foldMessages(
        subjectIDs: messages.map(\.subject.id), userIDs: messages.map(\.userID),
        surfaceIDs: messages.map(\.conversationID), enqueuedMicroseconds: messages.map(\.enqueuedAt),
        lookedMicroseconds: messages.map(\.lookedAt), attempts: messages.map { Int32(clamping: $0.attempts) },
        windowMicroseconds: policy.window.wholeMicroseconds, settleMicroseconds: policy.settle.wholeMicroseconds),
      on: reactor)
    var folded: [FoldedMessage] = []
    for row in rows {
      folded.append(
        FoldedMessage(
          decision: try Self.decision(row), first: .message(try row.decode("first_subject")),
          more: Int(try row.decode("more") as Int32)))
    }
    return folded
  }

  private static func decision(_ row: PostgresRow) throws(PostgresError) -> FoldDecision {
    switch try row.decode("verdict") as String {
    case "update": .update
    case "fold": .fold
    case "wait": .wait(until: try row.decode("due_us"))
    default: .sound
    }
  }
}
