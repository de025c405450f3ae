internal import HTTP2
internal import Reactors
internal import TLSStreams

/// A listener and its server, as the simulator holds them from outside their reactor.
///
/// Unchecked because both belong to the reactor; safe because they are touched there only.
struct BoundListener: @unchecked Sendable {
  let environment: SimulatedEnvironment
  let address: SocketAddress

  private let listener: HTTP2Listener
  private let server: PushServer
  private let reactor: Reactor

  init(
    _ server: PushServer, on address: SocketAddress, context: TLSContext, reactor: isolated Reactor
  ) throws(SystemError) {
    listener = try HTTP2Listener(
      on: address, context: context, configuration: server.configuration, handler: server, reactor: reactor)
    self.server = server
    environment = server.environment
    self.reactor = reactor
    self.address = listener.address
  }

  /// Accepts nothing more and closes what is open.
  func end() async {
    try? await reactor.perform { reactor in
      listener.stop(on: reactor)
      server.closeAll(on: reactor)
    }
  }
}
