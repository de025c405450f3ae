public import PushStore

/// What was measured. Times are microseconds.
public struct BenchFigures: Sendable {
  /// The calls of one function of the host contract, by the server's clock.
  public struct Calls: Equatable, Sendable {
    /// The function.
    public let function: MeasuredFunction
    /// Nil for a function that was never called, or never answered.
    public let times: Distribution?
    /// The statement that shows in psql what the slowest call does; nil without calls.
    public let worst: String?

    /// Notes calls.
    public init(_ function: MeasuredFunction, _ times: Distribution?, worst: String? = nil) {
      self.function = function
      self.times = times
      self.worst = worst
    }
  }

  /// A call or a read that failed.
  public struct Failure: Equatable, Sendable {
    /// `tacet.seen_by`, or `the read of a message`.
    public let what: String
    /// Why, of the first one; without values of rows.
    public let cause: String
    /// What to try: a statement, or the message's id.
    public let example: String
    /// How often.
    public var count = 1

    /// Notes a failure.
    public init(what: String, cause: String, example: String, count: Int = 1) {
      self.what = what
      self.cause = cause
      self.example = example
      self.count = count
    }
  }

  /// The server, and as whom it was asked.
  public var server: MeasuredServer
  /// Where it was reached.
  public var host: String
  /// Where the messages come from.
  public var source: MessageSample.Source
  /// Messages that were found.
  public var messages: Int
  /// Those that were measured in time, or failed.
  public var measured = 0
  /// Those of them that the host contract knows nothing of: deleted ones, or such as get no push.
  public var gone = 0
  /// A statement that does nothing.
  public var roundTrip: Distribution?
  /// In the order of the functions; one for each.
  public var calls: [Calls] = []
  /// Recipients of a message that is not gone.
  public var recipients: Distribution?
  /// Targets of its recipients together: of the first 250, as in one claim.
  public var targets: Distribution?
  /// The read of a message, one after another.
  public var alone: Distribution?
  /// The same by ``concurrency`` sessions at once.
  public var together: Distribution?
  /// Sessions at once.
  public var concurrency: Int
  /// Messages a second that these sessions read; zero if none was read.
  public var readsPerSecond = 0.0
  /// In the order in which they were met first.
  public var failures: [Failure] = []
  /// Indexes of the default host that are missing or invalid, where the contract reads its tables.
  public var missingIndexes: Set<String> = []

  /// Nothing is measured yet.
  public init(
    server: MeasuredServer, host: String, source: MessageSample.Source, messages: Int, concurrency: Int
  ) {
    self.server = server
    self.host = host
    self.source = source
    self.messages = messages
    self.concurrency = concurrency
  }

  /// The share, in percent, that a rate of messages takes of what the sessions read at most; nil if none was read. An
  /// estimate: nothing is recorded here.
  public func share(ofRate rate: Int) -> Double? {
    readsPerSecond > 0 ? Double(rate) * 100 / readsPerSecond : nil
  }

  /// For scripts: 0; 1 when no read was measured, or 99 in 100 took longer than the limit.
  public func exitCode(limitMicroseconds: Int64?) -> Int32 {
    guard let alone else { return 1 }
    return limitMicroseconds.map { alone.p99 > $0 } == true ? 1 : 0
  }
}
