internal import HTTP2

/// One connection of a lane, the provider token it shows, and how many pushes are on it.
final class APNSLink {
  /// Counts the lane's connections from 1; names it in the log.
  let number: Int
  let connection: HTTP2Connection
  var token: ShownToken

  /// APNs has answered on it with something else than that it goes away. Until then its end counts as a failed connect,
  /// or an APNs that accepts and closes would be connected to in a loop.
  var hasAnswered = false

  /// APNs has taken a push on it, or refused one for the push's own fault. Until then it carries one push at a time: APNs
  /// allows no more before it has seen a valid token, and whatever it announces, a connection is proved by one push rather
  /// than by all.
  var isOpenedUp = false

  /// Pushes admitted and not finished.
  var inFlight = 0

  /// Answers so far.
  var answers = 0

  init(_ connection: HTTP2Connection, number: Int, token: ProviderToken) {
    self.connection = connection
    self.number = number
    self.token = ShownToken(token)
  }

  /// Whether new pushes may take it.
  var isUsable: Bool { !connection.isSuspect }

  /// Streams it may have now.
  var streams: Int { isOpenedUp ? connection.streamsMax : min(1, connection.streamsMax) }

  /// Streams for more pushes; negative when APNs has lowered the number meanwhile.
  var freeStreams: Int { streams - inFlight }
}
