internal import Reactors
internal import Synchronization

/// What a service has done since its start, and its open connections.
package struct HTTPServiceFigures: Sendable, Equatable {
  package enum TurnAway: String, Sendable, CaseIterable {
    /// The service is full, and so is its reserve.
    case full
    /// The peer has as many connections as it may have.
    case peer
    /// The process has no descriptor left, or the kernel no memory.
    case descriptors
  }

  package struct Answer: Hashable, Sendable {
    /// Nil when the request had no operation, or was refused before its operation was known.
    package let operation: HTTPOperation?

    /// From 200 to 599.
    package let status: Int

    package init(_ operation: HTTPOperation?, status: Int) {
      self.operation = operation
      self.status = status
    }
  }

  package var accepted = 0
  package var open = 0
  /// Connections turned away, by reason. Has no zeros.
  package var turnedAway: [TurnAway: Int] = [:]
  /// TLS handshakes that failed, took too long, or began with plain HTTP. Peers that sent nothing do not count.
  package var failedHandshakes = 0
  /// Answers, including refusals of requests. Has no zeros.
  package var answers: [Answer: Int] = [:]

  /// Answers by status.
  package var responses: [Int: Int] {
    answers.reduce(into: [:]) { $0[$1.key.status, default: 0] += $1.value }
  }

  package init() {}

  static func += (sum: inout HTTPServiceFigures, other: HTTPServiceFigures) {
    sum.accepted += other.accepted
    sum.open += other.open
    sum.turnedAway.merge(other.turnedAway, uniquingKeysWith: +)
    sum.failedHandshakes += other.failedHandshakes
    sum.answers.merge(other.answers, uniquingKeysWith: +)
  }
}

/// Reads the figures of a service. Made before the service, so that a route of the service can show them. May be used from any
/// task.
package final class HTTPServiceMeter: Sendable {
  private let registries = Mutex<[ReactorBound<ConnectionRegistry>]>([])

  package init() {}

  /// Adds up the figures of all reactors. Those of one reactor are of one moment.
  package func read() async -> HTTPServiceFigures {
    var figures = HTTPServiceFigures()
    for registry in registries.withLock({ $0 }) {
      figures += await registry.perform { registry, _ in registry.figures }
    }
    return figures
  }

  func add(_ registry: ReactorBound<ConnectionRegistry>) { registries.withLock { $0.append(registry) } }
}

/// Counts the connections and answers of one reactor.
final class ConnectionCounters {
  private static let statuses = 200..<600

  private let operations: [HTTPOperation]
  private var figures = HTTPServiceFigures()
  /// A count for each status of each operation, and at the end for answers without an operation, so that an answer costs one
  /// addition. Thirty operations take 100 KB.
  private var responses: [Int]

  /// - Parameter operations: in the order of their routes' numbers.
  init(_ operations: [HTTPOperation]) {
    self.operations = operations
    responses = [Int](repeating: 0, count: Self.statuses.count * (operations.count + 1))
  }

  func countAccepted() { figures.accepted += 1 }

  func count(_ reason: HTTPServiceFigures.TurnAway) { figures.turnedAway[reason, default: 0] += 1 }

  func countFailedHandshake() { figures.failedHandshakes += 1 }

  /// - Parameter route: the number of the request's route; nil without one.
  func countResponse(_ status: Int, of route: Int? = nil) {
    responses[(route ?? operations.count) * Self.statuses.count + status - Self.statuses.lowerBound] += 1
  }

  func figures(open: Int) -> HTTPServiceFigures {
    var figures = figures
    figures.open = open
    for (place, count) in responses.enumerated() where count > 0 {
      let (route, status) = place.quotientAndRemainder(dividingBy: Self.statuses.count)
      let operation = route < operations.count ? operations[route] : nil
      figures.answers[.init(operation, status: Self.statuses.lowerBound + status)] = count
    }
    return figures
  }
}
