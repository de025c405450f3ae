/// What a service has done since its start, and what it does now.
public struct HTTPServiceFigures: Sendable, Equatable {
  /// Why a connection was turned away.
  public enum TurnAway: String, Sendable, CaseIterable {
    /// The service has as many as it may have, the reserve among them.
    case full
    /// Its peer has as many as it may have.
    case peer
    /// The process has no descriptor, or the kernel no memory, for one more.
    case descriptors
  }

  /// A sort of answer: which operation gave it, and its status.
  public struct Answer: Hashable, Sendable {
    /// Nil when the request was for none, or was refused before that was known.
    public let operation: HTTPOperation?

    /// From 200 to 599.
    public let status: Int

    /// Names a sort.
    public init(_ operation: HTTPOperation?, status: Int) {
      self.operation = operation
      self.status = status
    }
  }

  /// Connections that were let in.
  public var accepted = 0
  /// Those of them that are open.
  public var open = 0
  /// Connections that were turned away. None has no entry.
  public var turnedAway: [TurnAway: Int] = [:]
  /// TLS handshakes that failed, took too long, or were none; a peer that says nothing at all is not among them.
  public var failedHandshakes = 0
  /// Answers, refusals of requests among them. None has no entry.
  public var answers: [Answer: Int] = [:]

  /// Answers by their status alone.
  public var responses: [Int: Int] {
    answers.reduce(into: [:]) { $0[$1.key.status, default: 0] += $1.value }
  }

  /// Makes the figures of a service that has done nothing.
  public init() {}

  static func += (sum: inout HTTPServiceFigures, other: HTTPServiceFigures) {
    sum.accepted += other.accepted
    sum.open += other.open
    sum.turnedAway.merge(other.turnedAway, uniquingKeysWith: +)
    sum.failedHandshakes += other.failedHandshakes
    sum.answers.merge(other.answers, uniquingKeysWith: +)
  }
}
