/// How the server as a whole treats its clients, beyond the judgement of single pushes. May be changed while it runs.
public struct ServerConduct: Equatable, Sendable {
  /// How much longer than usual every answer takes, in milliseconds.
  public var delayMilliseconds = 0

  /// How long a connection may be without a request before it is ended with `IdleTimeout`, in milliseconds; nil is for
  /// ever. Holds for connections opened afterwards. The real limit is unpublished.
  public var idleMilliseconds: Int?

  /// When clients that connect too often are refused; nil never. The real numbers are unpublished.
  public var churn: ChurnLimit?

  /// Answers at once, and endless patience.
  public init() {}
}

/// When connecting counts as an attack, and what follows.
public struct ChurnLimit: Codable, Equatable, Sendable {
  /// Connections within ``seconds`` that are taken, from 1; the next one is refused, with all that follow.
  public var connections: Int
  /// The time in which they are counted, in seconds.
  public var seconds: Int
  /// How long connections are refused then, in milliseconds.
  public var refusedMilliseconds: Int

  /// A limit; numbers below 1 count as 1.
  public init(connections: Int, seconds: Int, refusedMilliseconds: Int) {
    self.connections = max(1, connections)
    self.seconds = max(1, seconds)
    self.refusedMilliseconds = max(1, refusedMilliseconds)
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case connections, seconds
    case refusedMilliseconds = "refused_ms"
  }
}
