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
