// While refused tokens are asked about in the other environment.
extension Lane {
  /// A token was refused for this reason, and the other environment is asked about it.
  func beginDoubt(_ reason: String?) {
    doubts += 1
    doubtsInRow += 1
    doubtReason = reason
  }

  /// The other environment has answered, or cannot be asked; whether what was turned away meanwhile may go now.
  func endDoubt() -> Bool {
    doubts -= 1
    return endsPause()
  }

  func endsPause() -> Bool {
    guard hasTurnedAwayPaused, !isPaused else { return false }
    hasTurnedAwayPaused = false
    return breaker.isClosed
  }

  /// Whether so many tokens in a row are refused, and being asked about in the other environment, that this route is most
  /// likely wrong. Nothing goes until it is known: each refusal counts against the connection.
  var isPaused: Bool {
    breaker.isClosed
      && min(doubts, doubtsInRow) >= (suspicion.isProven ? suspicion.configuration.usersInRowMax : Self.doubtsMax)
  }

  /// On a route that nothing has passed yet, where one refused token shuts it anyway.
  private static let doubtsMax = 1
}
