public import Postgres
public import PushKinds
public import Reactors

/// A push of another sender.
public struct ComparedPush: Equatable, Sendable {
  /// What it was about, and its kind.
  public let subject: PushSubject

  /// Whom it was for.
  public let userID: HostID

  /// When it was sent; microseconds since 1970.
  public let sentAt: Int64

  /// The sender's word for a push that failed; nil for one that was sent.
  public let outcome: String?

  /// Describes a push.
  public init(subject: PushSubject, userID: HostID, sentAt: Int64, outcome: String? = nil) {
    self.subject = subject
    self.userID = userID
    self.sentAt = sentAt
    self.outcome = outcome
  }
}

/// A table of the host in which another sender notes its pushes.
public struct ComparedTable: Equatable, Sendable {
  /// Its name, with its schema, as SQL has it.
  public var name: String
  /// The names of its columns.
  public var subject, user, time: String
  /// Those of the columns that it need not have; nil without.
  public var kind, outcome: String?
  /// The outcomes of pushes that were sent, in small letters.
  public var pushedWords: [String]

  /// Describes a table.
  public init(
    name: String, subject: String, user: String, time: String, kind: String? = nil, outcome: String? = nil,
    pushedWords: [String] = []
  ) {
    self.name = name
    (self.subject, self.user, self.time) = (subject, user, time)
    (self.kind, self.outcome) = (kind, outcome)
    self.pushedWords = pushedWords
  }
}

/// How many pairs of event and recipient had the same verdicts of both senders.
public struct ComparedVerdicts: Equatable, Sendable {
  /// A pair of event and recipient.
  public struct Example: Equatable, Sendable {
    /// What was pushed about.
    public let subjectID: String
    /// To whom.
    public let userID: String
    /// The event's kind.
    public let kind: String

    /// Names a pair.
    public init(subjectID: String, userID: String, kind: String) {
      self.subjectID = subjectID
      self.userID = userID
      self.kind = kind
    }
  }

  /// The ledger's verdict: `pushed`, also for a push that a shadow withheld, `held`, `skipped`, `failed`, or `unknown`.
  public var ours: String
  /// The ledger's reason; nil for a push.
  public var reason: String?
  /// The other sender's verdict: `pushed`, `failed` or `nothing`.
  public var theirs: String
  /// Its word for a failure.
  public var outcome: String?
  /// How many pairs; at least one.
  public var pairs: Int
  /// Some of them, three at most.
  public var examples: [Example] = []
  /// By how much ours was later, in microseconds, negative for earlier: the median and what 99 of 100 do not exceed. Nil unless
  /// both pushed.
  public var medianLateness, percentile99Lateness: Int64?

  /// Describes verdicts without examples.
  public init(ours: String, reason: String? = nil, theirs: String, outcome: String? = nil, pairs: Int) {
    (self.ours, self.reason) = (ours, reason)
    (self.theirs, self.outcome) = (theirs, outcome)
    self.pairs = pairs
  }
}

/// Pushes with a sound, on days (UTC) of users on which either sender had one.
public struct ComparedSounds: Equatable, Sendable {
  /// How many such days of users there are.
  public var userDays = 0
  /// The pushes of each sender.
  public var ours = 0, theirs = 0
  /// What 99 of 100 days do not exceed.
  public var percentile99Ours = 0, percentile99Theirs = 0

  /// None.
  public init() {}
}

extension PushDatabase {
  /// Takes pushes of another sender in. The same ones again change nothing.
  /// - Returns: how many were new, or told more than was known.
  public func importCompared(
    _ pushes: [ComparedPush], on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    let call = StatementCall.importCompared(
      subjectIDs: IDColumn(pushes.map(\.subject.id)), userIDs: IDColumn(pushes.map(\.userID)),
      kinds: pushes.map(\.subject.kind), sentMicroseconds: pushes.map(\.sentAt), outcomes: pushes.map(\.outcome))
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// Takes pushes of another sender in from a table of the host, which is only read.
  /// - Returns: how many were new or told more, and how many rows lack an id or a time.
  public func importCompared(
    from table: ComparedTable, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (imported: Int, leftOut: Int) {
    let call = StatementCall.importComparedTable(
      source: table.name, subjectColumn: table.subject, userColumn: table.user, timeColumn: table.time,
      kindColumn: table.kind, outcomeColumn: table.outcome, pushedWords: table.pushedWords)
    let row = try await pool.query(call, on: reactor).one()
    return (try row.decode("imported"), try row.decode("left_out"))
  }

  /// Compares the ledger with another sender's pushes in a time, of the kinds that are named.
  /// - Parameters:
  ///   - from: microseconds since 1970. to: the end, which is outside.
  /// - Throws: ``PostgresError``.
  public func compare(
    from: Int64, to: Int64, kinds: [String], on reactor: isolated Reactor
  ) async throws -> (verdicts: [ComparedVerdicts], sounds: ComparedSounds) {
    try await look(on: reactor) { look in
      let verdicts = try await look.query(
        .comparePushes(fromMicroseconds: from, toMicroseconds: to, kinds: kinds), on: reactor)
      let sounds = try await look.query(
        .compareSounds(fromMicroseconds: from, toMicroseconds: to, kinds: kinds), on: reactor)
      return (try verdicts.map(ComparedVerdicts.init), try ComparedSounds(sounds.one()))
    }
  }
}

extension ComparedVerdicts {
  fileprivate init(_ row: PostgresRow) throws(PostgresError) {
    self.init(
      ours: try row.decode("ours"), reason: try row.decode("reason"), theirs: try row.decode("theirs"),
      outcome: try row.decode("outcome"), pairs: try row.decode("pairs"))
    let subjects: [String] = try row.decode("example_subjects")
    let users: [String] = try row.decode("example_users")
    let kinds: [String] = try row.decode("example_kinds")
    examples = zip(subjects, zip(users, kinds)).map { Example(subjectID: $0, userID: $1.0, kind: $1.1) }
    medianLateness = try row.decode("median_late_us")
    percentile99Lateness = try row.decode("percentile99_late_us")
  }
}

extension ComparedSounds {
  fileprivate init(_ row: PostgresRow) throws(PostgresError) {
    self.init()
    userDays = try row.decode("user_days")
    (ours, theirs) = (try row.decode("ours"), try row.decode("theirs"))
    percentile99Ours = try row.decode("percentile99_ours")
    percentile99Theirs = try row.decode("percentile99_theirs")
  }
}
