internal import Reactors

/// A push server as other threads hold it.
///
/// Unchecked because the server belongs to its reactor; safe because it is only handed out there.
struct PushServerHandle: @unchecked Sendable {
  private let server: PushServer
  private let reactor: Reactor

  init(_ server: PushServer, on reactor: isolated Reactor) {
    self.server = server
    self.reactor = reactor
  }

  /// Runs work on the server's reactor, later.
  func perform(_ work: @escaping @Sendable (PushServer, isolated Reactor) -> Void) {
    reactor.submit { reactor in work(server, reactor) }
  }
}
