public import APNSCore
internal import FoundationEssentials
internal import Postgres
public import PushKinds
public import Reactors

/// What is known of a Live Activity. Times are microseconds since 1970.
public struct LiveActivityRecord: Decodable, Sendable {
  /// One push.
  public struct Update: Decodable, Sendable {
    /// The subject of its event.
    public let subject_id: String
    /// The number of its state.
    public let version: Int
    /// How many states it took in while it waited.
    public let merged: Int
    /// `start`, `update` or `end`.
    public let event: String
    /// 5 or 10.
    public let priority: Int
    /// Unix seconds, as the device compares them.
    public let timestamp: Int64
    /// As the ledger has it; nil while it is under way.
    public let decision: String?
    /// Why; nil for a plain success.
    public let reason: String?
    /// When it was committed.
    public let created_us: Int64
    /// When APNs took it.
    public let sent_us: Int64?
    /// Devices for which APNs took it.
    public let devices_accepted: Int?
  }

  /// Its id.
  public let id: String
  /// The name of its type.
  public let type: String
  /// Whose devices show it.
  public let user_id: HostID
  /// The number of its newest state.
  public let version: Int
  /// What stays the same.
  public let attributes: PayloadObject
  /// The newest state.
  public let state: PayloadObject
  /// When it began.
  public let started_us: Int64
  /// When it ended.
  public let ended_us: Int64?
  /// Who ended it: `server`, `app`, `row`, `row_deleted`, `row_reassigned` or `eight_hours`.
  public let end_reason: String?
  /// Push-to-start tokens that the user has for its type.
  public let start_tokens: Int
  /// Update tokens that apps have reported for it.
  public let update_tokens: Int
  /// Its pushes, the newest first, up to the bound that was asked for.
  public let updates: [Update]
}

extension PushDatabase {
  /// What is known of a Live Activity; nil without it.
  ///
  /// One ``OperatorLook``.
  /// - Throws: ``PostgresError``, or `DecodingError` for a document of another release.
  public func liveActivity(
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
