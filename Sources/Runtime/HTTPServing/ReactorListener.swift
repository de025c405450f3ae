internal import Reactors
internal import TLSStreams

/// A service's part on one reactor.
struct ReactorListener {
  let acceptor: ConnectionAcceptor
  let registry: ConnectionRegistry

  init(
    on address: SocketAddress, tls: TLSContext?, service: ServiceContext, reactor: isolated Reactor
  ) throws(SystemError) {
    registry = ConnectionRegistry(service.configuration, operations: service.routes.operations)
    let socket = try ListeningSocket(on: address, unixMode: service.configuration.unixSocketMode)
    acceptor = ConnectionAcceptor(socket, tls: tls, registry: registry, service: service)
    try acceptor.start(on: reactor)
  }
}
