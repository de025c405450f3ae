internal import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// What became of a request about a Live Activity, in the words of `db/functions/live_activities.sql`.
package enum LiveActivityOutcome: Equatable, Sendable {
  case started
  /// It had begun before, for the same user and of the same type, and is left as it is.
  case exists
  /// Another user, or another type, has its id.
  case taken
  case unknownType
  /// The state is the newest.
  case updated
  /// It has ended: by this request, or before an update.
  case ended
  case alreadyEnded
  case unknown
  /// A document does not fit the type, for this reason.
  case refused(String)

  init(word: String) {
    switch word {
    case "started": self = .started
    case "exists": self = .exists
    case "taken": self = .taken
    case "unknown_type": self = .unknownType
    case "updated": self = .updated
    case "ended": self = .ended
    case "already_ended": self = .alreadyEnded
    case "unknown": self = .unknown
    default:
      guard word.hasPrefix("refused: ") else { preconditionFailure("the functions have no other words") }
      self = .refused(String(word.dropFirst("refused: ".count)))
    }
  }
}

/// The start of a Live Activity. Documents are JSON texts; nil for what the type says.
package struct LiveActivityStartRequest: Equatable, Sendable {
  /// The id that its server or app has chosen.
  package var id: String
  package var userID: HostID
  package var type: String
  package var attributes: String?
  package var state: String?
  package var alert: String?
  /// Whether a push starts it; otherwise the app has.
  package var isPushed = true

  package init(id: String, userID: HostID, type: String) {
    self.id = id
    self.userID = userID
    self.type = type
  }
}

/// A token as an app reports it.
package struct LiveActivityToken: Equatable, Sendable {
  /// Hexadecimal, in lower case.
  package var token: String
  /// The device's own token; empty for one that the app has not said.
  package var deviceToken: String
  /// The app's bundle identifier; nil for what is known.
  package var app: String?
  /// `production` or `sandbox`; nil for what is known.
  package var environment: String?

  package init(token: String, deviceToken: String, app: String? = nil, environment: String? = nil) {
    self.token = token
    self.deviceToken = deviceToken
    self.app = app
    self.environment = environment
  }
}

// Live Activities; see db/functions/live_activities.sql. A user's id also finds what the user's app has announced; without one it is a
// Live Activity of a server or a row.
extension PushDatabase {
  package func start(
    _ start: LiveActivityStartRequest, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LiveActivityOutcome {
    try await outcome(
      of: .startLiveActivity(
        activityID: start.id, userID: start.userID, type: start.type, attributes: start.attributes, state: start.state,
        alert: start.alert, isPushed: start.isPushed), on: reactor)
  }

  /// Gives one its next state, whole.
  /// - Parameters:
  ///   - state, alert: JSON texts.
  ///   - priority: 5 or 10; nil for the type's.
  package func updateLiveActivity(
    _ id: String, of user: HostID? = nil, state: String, alert: String? = nil, priority: Int? = nil,
    relevance: Double? = nil, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LiveActivityOutcome {
    try await outcome(
      of: .updateLiveActivity(
        activityID: id, userID: user, state: state, alert: alert, priority: priority,
        relevance: relevance.map { "\($0)" }),
      on: reactor)
  }

  /// Ends one.
  /// - Parameters:
  ///   - state: the last one, a JSON text; nil for the type's.
  ///   - reason: a word for explanations.
  ///   - isPushed: false when the device has ended it.
  package func endLiveActivity(
    _ id: String, of user: HostID? = nil, state: String? = nil, alert: String? = nil, reason: String,
    isPushed: Bool = true, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LiveActivityOutcome {
    try await outcome(
      of: .endLiveActivity(
        activityID: id, userID: user, state: state, alert: alert, reason: reason, isPushed: isPushed), on: reactor)
  }

  /// Ends all of a user.
  /// - Returns: how many ran.
  package func endLiveActivities(
    of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await pool.query(.endLiveActivities(userID: user), on: reactor).one().decode(0)
  }

  /// Lets them follow the rows of watched tables that have changed.
  /// - Returns: how many rows were taken from the queue.
  package func followChangedRows(_ limit: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.followChangedRows(rowsMax: limit), on: reactor).one().decode(0)
  }

  /// Keeps the token by which one is updated.
  /// - Returns: false when the user has no such Live Activity.
  package func put(
    _ token: LiveActivityToken, ofLiveActivity id: String, of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(
      .putActivityToken(
        activityID: id, userID: user, deviceToken: token.deviceToken, token: token.token, app: token.app,
        environment: token.environment), on: reactor
    ).one().decode(0)
  }

  /// Keeps the token by which a device starts Live Activities of a type.
  /// - Returns: false when there is no such type.
  package func put(
    _ token: LiveActivityToken, startingType type: String, of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(
      .putStartToken(
        userID: user, deviceToken: token.deviceToken, type: type, token: token.token, app: token.app,
        environment: token.environment), on: reactor
    ).one().decode(0)
  }

  package func removeStartToken(
    of deviceToken: String, type: String, of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let none = String?.none
    try await pool.query(
      .putStartToken(userID: user, deviceToken: deviceToken, type: type, token: none, app: none, environment: none),
      on: reactor)
  }

  /// Ends those that have run for eight hours, and repeats what triggers could not do.
  /// - Returns: how many; at most twice the limit.
  package func tendLiveActivities(_ limit: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.tendLiveActivities(activitiesMax: limit), on: reactor).one().decode(0)
  }

  private func outcome(
    of call: StatementCall, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LiveActivityOutcome {
    LiveActivityOutcome(word: try await pool.query(call, on: reactor).one().decode(0))
  }
}

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
