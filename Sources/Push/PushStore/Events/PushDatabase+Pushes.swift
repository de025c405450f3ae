public import FoundationEssentials
public import Postgres
public import Reactors

/// A push that a server asks for.
public struct PushSubmission: Equatable, Sendable {
  /// The recipient.
  public var userID: UUID

  /// The kind that ledger and payload name.
  public var kind: String

  /// The first line; no zero characters, here and below.
  public var title: String

  /// The text.
  public var body: String

  /// The app's own data as a JSON object.
  public var data: String?

  /// By what it replaces others on the screen.
  public var collapseID: String?

  /// The key under which the same request may come again.
  public var idempotencyKey: String?

  /// Describes a push.
  public init(
    userID: UUID, kind: String, title: String, body: String, data: String? = nil, collapseID: String? = nil,
    idempotencyKey: String? = nil
  ) {
    self.userID = userID
    self.kind = kind
    self.title = title
    self.body = body
    self.data = data
    self.collapseID = collapseID
    self.idempotencyKey = idempotencyKey
  }
}

/// A push as it was noted.
public struct SubmittedPush: Equatable, Sendable {
  /// Its id and kind.
  public let subject: PushSubject

  /// The id of its row in the ledger, which is written when it is decided.
  public let logID: UUID

  /// Whether a request of the same key was answered with it before.
  public let isRepeated: Bool
}

extension PushDatabase {
  /// Notes a push and queues it, once for each idempotency key.
  /// - Returns: nil when the key belongs to a push that says something else.
  public func submit(
    _ push: PushSubmission, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SubmittedPush? {
    let submit = StatementCall.submitPush(
      userID: push.userID, kind: push.kind, title: push.title, body: push.body, data: push.data,
      collapseID: push.collapseID, idempotencyKey: push.idempotencyKey)
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
}
