public import FoundationEssentials
internal import Postgres
public import PushKinds
public import Reactors

/// What the ledger keeps of one push and its decisions.
public struct RecordedPush: Equatable, Sendable {
  /// The row's id.
  public let id: UUID
  /// When the event was committed; microseconds since 1970, as all times here.
  public let enqueuedAt: Int64
  /// The subject; nil in rows that another program wrote.
  public let subjectID: HostID?
  /// The kind of event.
  public let kind: String
  /// The recipient.
  public let userID: HostID
  /// The outcome.
  public let decision: OutcomeDecision
  /// The recorded claims, without their attempts at devices; nil when they cannot be read.
  public let history: [HistoryEntry]?
  /// The first digits of the SHA-256 of the conversation's or surface's id; nil when that is not recorded.
  public let surface: String?
  /// Whether it was to sound; nil when nothing folded it.
  public let sounds: Bool?
  /// When the ledger was read.
  public let askedAt: Int64

  /// Describes a push.
  public init(
    id: UUID = UUID(), enqueuedAt: Int64, subjectID: HostID?, kind: String, userID: HostID, decision: OutcomeDecision,
    history: [HistoryEntry]?, surface: String? = nil, sounds: Bool? = nil, askedAt: Int64
  ) {
    self.id = id
    self.enqueuedAt = enqueuedAt
    self.subjectID = subjectID
    self.kind = kind
    self.userID = userID
    self.decision = decision
    self.history = history
    self.surface = surface
    self.sounds = sounds
    self.askedAt = askedAt
  }
}

extension PushDatabase {
  /// The next pushes of a span of the ledger, the oldest first.
  /// - Parameters:
  ///   - start: when the span begins.
  ///   - last: the last push of the page before; nil for the first page.
  ///   - end: when the span ends, exclusive.
  ///   - kind: of the events; nil for all.
  ///   - size: pushes at most; fewer are the last.
  /// - Throws: ``PostgresError``.
  public func recordedPushes(
    from start: Int64, after last: RecordedPush?, until end: Int64, kind: String?, size: Int,
    on reactor: isolated Reactor
  ) async throws -> [RecordedPush] {
    try await look(on: reactor) { look in
      let call = StatementCall.replayPushes(
        lastEnqueuedMicroseconds: last?.enqueuedAt ?? start, lastID: last?.id, untilMicroseconds: end, kind: kind,
        rowsMax: size)
      return try await look.query(call, on: reactor).map(RecordedPush.init)
    }
  }

  /// When a span begins that has no more than a number of pushes, the newest: later than asked if it has more.
  /// - Throws: ``PostgresError``.
  public func beginning(
    from start: Int64, until end: Int64, rowsMax: Int, on reactor: isolated Reactor
  ) async throws -> Int64 {
    try await look(on: reactor) { look in
      let call = StatementCall.replayBeginning(
        fromMicroseconds: start, untilMicroseconds: end, rowsMax: rowsMax)
      return try await look.query(call, on: reactor).one().decode(0)
    }
  }
}

extension RecordedPush {
  /// By the numbers of the columns: names are compared for each row.
  fileprivate init(_ row: PostgresRow) throws(PostgresError) {
    id = try row.decode(0)
    enqueuedAt = try row.decode(1)
    subjectID = try row.decode(2)
    kind = try row.decode(3)
    userID = try row.decode(4)
    decision = try row.decode(5)
    let history: ReplayedHistory = try row.decode(6)
    (self.history, surface, sounds) = (history.entries, history.surface, history.sounds)
    askedAt = try row.decode(7)
  }
}
