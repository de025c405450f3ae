/// How much is measured, and against what it is held.
public struct BenchPlan: Sendable {
  /// Messages at most: ten thousand have some million calls, whose times stay in memory.
  public static let messagesRange = 1...10_000
  /// Seconds for everything after the connect.
  public static let secondsRange = 1...3600
  /// Sessions that read at once. A database has room for a hundred, unless it is told otherwise.
  public static let concurrencyRange = 1...64

  /// Messages at most.
  public let messages: Int
  /// Seconds at most: half for one message after another, a quarter, and five seconds at most, for all sessions at once.
  public let seconds: Int
  /// Sessions that read at once.
  public let concurrency: Int
  /// Messages a second of which the share is estimated.
  public let rate: Int
  /// No read of 99 in 100 may take longer; nil for no limit. In microseconds.
  public let limitMicroseconds: Int64?

  /// Describes a run.
  public init(messages: Int, seconds: Int, concurrency: Int, rate: Int, limitMicroseconds: Int64? = nil) {
    self.messages = messages
    self.seconds = seconds
    self.concurrency = concurrency
    self.rate = rate
    self.limitMicroseconds = limitMicroseconds
  }

  /// For one statement.
  var statementLimit: Duration { .seconds(seconds) }
  /// For empty statements.
  var roundTripsLimit: Duration { min(.seconds(seconds) / 8, .seconds(1)) }
  /// For one message after another.
  var walkLimit: Duration { .seconds(seconds) / 2 }
  /// For all sessions at once.
  var readersLimit: Duration { min(.seconds(seconds) / 4, .seconds(5)) }
}
