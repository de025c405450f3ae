internal import HTTP2
internal import Reactors

/// Finds out when a connection has carried no request for a while. One timer, which moves on when there was one.
final class IdleWatch: TimerHandler {
  private let limit: Duration
  /// Unowned, both: the server holds its connections, a connection its watch, and a closed one stops it.
  private unowned let connection: ServedConnection
  private unowned let server: PushServer
  private var quietSince = Reactor.now
  private var timer: TimerToken?

  init(_ limit: Duration, _ connection: ServedConnection, of server: PushServer, on reactor: isolated Reactor) {
    self.limit = limit
    self.connection = connection
    self.server = server
    timer = reactor.schedule(after: limit, self)
  }

  func noteActivity() {
    quietSince = Reactor.now
  }

  func stop(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
  }

  func timerFired(_ token: TimerToken, on reactor: isolated Reactor) {
    timer = nil
    let left = limit - .nanoseconds(Int64(Reactor.now - quietSince))
    if left > .zero {
      timer = reactor.schedule(after: left, self)
    } else if connection.link.openStreams > 0 {
      // A connection with a request under way is not idle.
      timer = reactor.schedule(after: limit, self)
    } else {
      server.sayGoodbye("IdleTimeout", connection, on: reactor)
    }
  }
}
