internal import CoreMetrics
internal import HTTPTypes
internal import Reactors
internal import Synchronization

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

/// Reads the figures of a service; made before it, so that one of its own routes can show them. May be used from any task.
public final class HTTPServiceMeter: Sendable {
  private let registries = Mutex<[ReactorBound<ConnectionRegistry>]>([])

  /// Makes the meter of a service that has not started.
  public init() {}

  /// The figures over all reactors; each reactor's are of one moment.
  public func read() async -> HTTPServiceFigures {
    var figures = HTTPServiceFigures()
    for registry in registries.withLock({ $0 }) {
      figures += await registry.perform { registry, _ in registry.figures }
    }
    return figures
  }

  func add(_ registry: ReactorBound<ConnectionRegistry>) { registries.withLock { $0.append(registry) } }
}

/// What has become of the connections and requests of one reactor.
final class ConnectionCounters {
  /// The statuses that an answer may have.
  private static let statuses = 200..<600

  private let operations: [HTTPOperation]
  private var accepted = 0
  private var turnedAway: [HTTPServiceFigures.TurnAway: Int] = [:]
  private var failedHandshakes = 0
  /// A place for each status of each operation, and at the end for those of none: an addition for each answer is all it
  /// costs. Thirty operations take 100 KB.
  private var responses: [Int]

  /// - Parameter operations: in the order of their routes' numbers.
  init(_ operations: [HTTPOperation]) {
    self.operations = operations
    responses = [Int](repeating: 0, count: Self.statuses.count * (operations.count + 1))
  }

  func noteAccepted() { accepted += 1 }

  func note(_ reason: HTTPServiceFigures.TurnAway) { turnedAway[reason, default: 0] += 1 }

  func noteFailedHandshake() { failedHandshakes += 1 }

  /// - Parameter route: the number of the route that the request was for; nil when it was for none.
  func noteResponse(_ status: Int, of route: Int? = nil) {
    responses[(route ?? operations.count) * Self.statuses.count + status - Self.statuses.lowerBound] += 1
  }

  /// - Parameter open: how many connections are open.
  func figures(open: Int) -> HTTPServiceFigures {
    var figures = HTTPServiceFigures()
    figures.accepted = accepted
    figures.open = open
    figures.turnedAway = turnedAway
    figures.failedHandshakes = failedHandshakes
    for (place, count) in responses.enumerated() where count > 0 {
      let (route, status) = place.quotientAndRemainder(dividingBy: Self.statuses.count)
      let operation = route < operations.count ? operations[route] : nil
      figures.answers[.init(operation, status: Self.statuses.lowerBound + status)] = count
    }
    return figures
  }
}

/// How long the requests of each route take: from their head to their answer, the wait for their content included.
struct RouteTimers: Sendable {
  private let timers: [CoreMetrics.Timer]

  /// - Parameter operations: in the order of their routes' numbers.
  init(_ operations: [HTTPOperation], _ factory: any MetricsFactory) {
    timers = operations.map { operation in
      Timer(
        label: "tacet_http_request_duration_seconds",
        dimensions: [("method", operation.method.rawValue), ("route", operation.pattern)], factory: factory)
    }
  }

  /// A request of this route took so long.
  func note(nanoseconds: UInt64, of route: Int) {
    timers[route].recordNanoseconds(Int64(clamping: nanoseconds))
  }
}
