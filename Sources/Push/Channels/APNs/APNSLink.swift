internal import HTTP2
internal import Reactors

/// One connection of a pool, the provider token that it shows, and the number of its pushes.
final class APNSLink {
  /// Counts the pool's connections from 1; names it in the log.
  let number: Int
  let connection: HTTP2Connection
  var token: ShownToken

  /// APNs has answered on it, other than by saying that it goes away. Until then its end counts as a failed connect;
  /// otherwise an APNs that accepts and closes would be connected to in a loop.
  var hasAnswered = false

  /// APNs has taken a push on it, or refused one for the push's fault. Until then it carries one push at a time: APNs allows
  /// no more before it has seen a valid token, and one push is enough to prove a connection.
  var isOpenedUp = false

  var inFlight = 0

  var answers = 0

  init(_ connection: HTTP2Connection, number: Int, token: ProviderToken) {
    self.connection = connection
    self.number = number
    self.token = ShownToken(token)
  }

  var isUsable: Bool { !connection.isSuspect }

  var streams: Int { isOpenedUp ? connection.streamsMax : min(1, connection.streamsMax) }

  /// Streams for more pushes; negative when APNs has lowered the number meanwhile.
  var freeStreams: Int { streams - inFlight }
}

/// The provider token that one connection shows. It changes more slowly than the token of the process.
struct ShownToken {
  private(set) var token: ProviderToken
  private var shownSince: UInt64

  private(set) var hasChanged = false

  init(_ token: ProviderToken, now: UInt64 = Reactor.now) {
    self.token = token
    shownSince = now
  }

  /// Moves to a newer token once the connection has shown the present one for long enough.
  mutating func adopt(_ newest: ProviderToken, now: @autoclosure () -> UInt64 = Reactor.now) {
    guard newest != token else { return }
    let now = now()
    guard ProviderTokenSchedule.mayReplace(age: .nanoseconds(Int64(now &- shownSince))) else { return }
    token = newest
    shownSince = now
    hasChanged = true
  }
}
