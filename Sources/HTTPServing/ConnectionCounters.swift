/// What has become of the connections and requests of one reactor.
final class ConnectionCounters {
  /// The statuses that an answer may have.
  private static let statuses = 200..<600

  private var accepted = 0
  private var turnedAway: [HTTPServiceFigures.TurnAway: Int] = [:]
  private var failedHandshakes = 0
  /// A place for each status: an addition for each answer is all it costs.
  private var responses = [Int](repeating: 0, count: statuses.count)

  func noteAccepted() { accepted += 1 }

  func note(_ reason: HTTPServiceFigures.TurnAway) { turnedAway[reason, default: 0] += 1 }

  func noteFailedHandshake() { failedHandshakes += 1 }

  func noteResponse(_ status: Int) { responses[status - Self.statuses.lowerBound] += 1 }

  /// - Parameter open: how many connections are open.
  func figures(open: Int) -> HTTPServiceFigures {
    var figures = HTTPServiceFigures()
    figures.accepted = accepted
    figures.open = open
    figures.turnedAway = turnedAway
    figures.failedHandshakes = failedHandshakes
    for (status, count) in zip(Self.statuses, responses) where count > 0 { figures.responses[status] = count }
    return figures
  }
}
