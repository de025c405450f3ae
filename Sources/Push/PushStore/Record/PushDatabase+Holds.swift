package import Postgres
package import PushRules
package import Reactors

package struct RecordedHold: Equatable, Sendable {
  package let subject: PushSubject

  package let userID: HostID

  package init(subject: PushSubject, userID: HostID) {
    self.subject = subject
    self.userID = userID
  }
}

/// What a review of holds has found.
package struct ReviewedHolds: Equatable, Sendable {
  /// Holds that were made due.
  package let released: Int

  /// The oldest running transaction that may change something; without one, the next to begin. Transactions are
  /// numbered in the order in which they first write.
  package let oldestRunning: Int64

  /// The number of the next transaction.
  package let nextToBegin: Int64
}

extension PushDatabase {
  /// Makes those of the holds due about which something was learnt while they were being recorded.
  package func review(
    _ holds: [RecordedHold], on reactor: isolated Reactor
  ) async throws(PostgresError) -> ReviewedHolds {
    let row = try await pool.query(.reviewHolds(holds), on: reactor).one()
    return ReviewedHolds(
      released: try row.decode("released"), oldestRunning: try row.decode("oldest_running"),
      nextToBegin: try row.decode("next_to_begin"))
  }

  /// Why the last try of a push to each of these users failed, as the ledger has it; nothing for one that was never tried.
  package func lastFailures(
    of subject: PushSubject, to userIDs: [HostID], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostID: String] {
    var reasons: [HostID: String] = [:]
    let call = StatementCall.lastFailures(subjectID: subject.id, kind: subject.kind, userIDs: userIDs)
    for row in try await pool.query(call, on: reactor) {
      reasons[try row.decode("user_id")] = try row.decode("reason", as: String.self)
    }
    return reasons
  }
}

extension StatementCall {
  static func reviewHolds(_ holds: [RecordedHold]) -> StatementCall {
    .reviewHolds(
      subjectIDs: holds.map(\.subject.id), kinds: holds.map(\.subject.kind), userIDs: holds.map(\.userID))
  }
}
