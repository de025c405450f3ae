internal import FoundationEssentials
internal import Postgres
package import PushRules
package import Reactors

/// What is known of a Live Activity. Times are microseconds since 1970.
package struct LiveActivityRecord: Decodable, Sendable {
  package struct Update: Decodable, Sendable {
    package let subject_id: String
    /// The number of its state.
    package let version: Int
    /// How many states it took in while it waited.
    package let merged: Int
    /// `start`, `update` or `end`.
    package let event: String
    /// 5 or 10.
    package let priority: Int
    /// Unix seconds, as the device compares them.
    package let timestamp: Int64
    /// As the ledger has it; nil while it is under way.
    package let decision: String?
    /// Why; nil for a plain success.
    package let reason: String?
    package let created_us: Int64
    /// When APNs took it.
    package let sent_us: Int64?
    package let devices_accepted: Int?
  }

  package let id: String
  package let type: String
  /// Whose devices show it.
  package let user_id: HostID
  /// The number of its newest state.
  package let version: Int
  package let attributes: PayloadObject
  package let state: PayloadObject
  package let started_us: Int64
  package let ended_us: Int64?
  /// Who ended it: `server`, `app`, `row`, `row_deleted`, `row_reassigned` or `eight_hours`.
  package let end_reason: String?
  /// Push-to-start tokens that the user has for its type.
  package let start_tokens: Int
  /// Update tokens that apps have reported for it.
  package let update_tokens: Int
  /// Its pushes, the newest first, up to the bound that was asked for.
  package let updates: [Update]
}

extension PushDatabase {
  /// What is known of a Live Activity; nil without it.
  ///
  /// One ``OperatorLook``.
  /// - Throws: ``PostgresError``, or `DecodingError` for a document of another release.
  package func liveActivity(
    _ id: String, of user: HostID? = nil, updatesMax: Int, on reactor: isolated Reactor
  ) async throws -> LiveActivityRecord? {
    try await look(on: reactor) { look in
      let rows = try await look.query(
        .liveActivity(activityID: id, userID: user, updatesMax: updatesMax), on: reactor)
      guard let row = rows.first else { return nil }
      let document: String = try row.decode(0)
      return try JSONDecoder().decode(LiveActivityRecord.self, from: Data(document.utf8))
    }
  }
}
