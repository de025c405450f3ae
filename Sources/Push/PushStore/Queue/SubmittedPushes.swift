package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// A push that a server asks for.
package struct PushSubmission: Equatable, Sendable {
  package var userID: HostID

  /// The kind that ledger and payload name.
  package var kind: String

  /// The first line; no zero characters, here and below.
  package var title: String

  package var body: String

  /// The app's own data as a JSON object.
  package var data: String?

  /// How it is shown; ``PushPresentation/collapseID`` included.
  package var presentation = PushPresentation()

  /// When to send it, microseconds since 1970; nil for now.
  package var sendAt: Int64?

  /// How long it may be sent from then on; nil for the service's setting.
  package var life: Duration?

  /// The key by which ``PushDatabase/cancelPushes(_:on:)`` finds it.
  package var cancelKey: String?

  /// The group of which the user gets one push a day; nil for no cap.
  package var capGroup: String?

  package var idempotencyKey: String?

  package init(
    userID: HostID, kind: String, title: String, body: String, data: String? = nil, idempotencyKey: String? = nil
  ) {
    self.userID = userID
    self.kind = kind
    self.title = title
    self.body = body
    self.data = data
    self.idempotencyKey = idempotencyKey
  }
}

package struct SubmittedPush: Equatable, Sendable {
  package let subject: PushSubject

  /// The id of its row in the ledger, which is written when it is decided.
  package let logID: UUID

  /// Whether a request of the same key was answered with it before.
  package let isRepeated: Bool
}

extension PushDatabase {
  /// Notes a push and queues it, once for each idempotency key.
  /// - Returns: nil when the key belongs to a push that says something else.
  package func submit(
    _ push: PushSubmission, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SubmittedPush? {
    let submit = StatementCall.submitPush(
      userID: push.userID, kind: push.kind, title: push.title, body: push.body, data: push.data,
      collapseID: push.presentation.collapseID, idempotencyKey: push.idempotencyKey,
      presentation: push.presentation.json, sendAtMicroseconds: push.sendAt,
      expiresInMicroseconds: push.life?.wholeMicroseconds, cancelKey: push.cancelKey, capGroup: push.capGroup)
    let find = StatementCall(PushStatements.submittedPush, submit.parameters)
    // The row of a key may be pruned between the two; then the key is free.
    while true {
      for (call, isRepeated) in [(submit, false), (find, true)] {
        guard let row = try await pool.query(call, on: reactor).first else { continue }
        guard try row.decode("is_same", as: Bool.self) else { return nil }
        let subject = PushSubject(id: try row.decode("id"), kind: push.kind)
        let logID = subject.logID(of: push.userID, enqueuedAt: try row.decode("created_us"))
        return SubmittedPush(subject: subject, logID: logID, isRepeated: isRepeated)
      }
    }
  }

  /// Cancels the pushes of a key that have not been sent.
  /// - Returns: how many pushes that a server asked for wait; those of watched rows are not counted.
  package func cancelPushes(_ key: String, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.cancelPushes(cancelKey: key), on: reactor).one().decode(0)
  }

  /// Cancels all pushes of a user that servers have asked for or campaigns have queued, and that wait.
  /// - Returns: how many.
  package func cancelPushes(of user: HostID, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.cancelUserPushes(userID: user), on: reactor).one().decode(0)
  }

  /// The same pushes, the next first.
  package func waitingPushes(
    of user: HostID, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [WaitingPush] {
    try await pool.query(.waitingPushes(userID: user, rowsMax: rowsMax), on: reactor).decoded()
  }
}

package struct WaitingPush: Equatable, Sendable, Decodable {
  package let id: UUID
  package let kind: String
  package let title: String
  /// When it is looked at; microseconds since 1970.
  package let dueAt: Int64
  /// `scheduled`, `held`, `retryable` or `waiting`.
  package let state: String
  package let cancelKey: String?
}

/// What is known of an event's pushes.
package enum EventStatus: Equatable, Sendable {
  /// The host has no such event.
  case unknown
  /// In the inbox, not yet decided.
  case pending
  /// Decided; empty without recipients. Sorted by user id.
  case decided([RecordedOutcome])
}

/// A recipient's outcome as the ledger has it.
package struct RecordedOutcome: Equatable, Sendable, Decodable {
  package let userID: HostID

  package let decision: OutcomeDecision

  /// Why, nil for a plain success.
  package let reason: String?

  /// Until when it is held, microseconds since 1970; nil unless it is.
  package let heldUntil: Int64?

  package let devicesAccepted: Int
}

extension PushDatabase {
  /// Returns the state of an event. A message that no trigger has seen is put in the inbox first, unless it is decided.
  package func ingest(_ subject: PushSubject, on reactor: isolated Reactor) async throws(PostgresError) -> EventStatus {
    let rows =
      if subject.kind == MessagePush.name {
        try await pool.query(.ingest(subjectID: subject.id), on: reactor)
      } else {
        try await pool.query(.ingestEvent(subjectID: subject.id, kind: subject.kind), on: reactor)
      }
    return try EventStatus.read(rows)
  }

  package func status(of subject: PushSubject, on reactor: isolated Reactor) async throws(PostgresError) -> EventStatus
  {
    try EventStatus.read(await pool.query(.outcome(subjectID: subject.id, kind: subject.kind), on: reactor))
  }
}

extension EventStatus {
  /// A row for each recipient, or one without a user.
  static func read(_ rows: PostgresRows) throws(PostgresError) -> EventStatus {
    var outcomes: [RecordedOutcome] = []
    for row in rows {
      guard try row.decode("is_known") else { return .unknown }
      if try row.decode("is_pending") { return .pending }
      if try row.decode("user_id", as: HostID?.self) != nil { outcomes.append(try row.decoded()) }
    }
    return .decided(outcomes)
  }
}

/// Stored by its raw value.
extension OutcomeDecision: PostgresScalar {}

// Words that Tacet itself puts into pushes.
extension PushDatabase {
  /// Tacet's own words, with those that the host has put in their place (`tacet.localise('tacet_more', …)`); 1000 at most. What
  /// cannot be a word is left out.
  package func words(on reactor: isolated Reactor) async throws(PostgresError) -> TacetWords {
    var words = TacetWords.builtIn
    for row in try await pool.query(.ownWords, on: reactor) {
      let name: String = try row.decode("name")
      let locale: String = try row.decode("locale")
      let category: String = try row.decode("category")
      guard let name = TacetWords.Name(rawValue: String(name.dropFirst("tacet_".count))),
        let locale = LocaleTag(locale), let category = PluralCategory(rawValue: category)
      else { continue }
      words.set(name, to: try row.decode("text"), for: category, in: locale)
    }
    return words
  }
}
