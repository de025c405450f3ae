internal import Reactors

/// A service's part on one reactor.
struct ReactorListener {
  let acceptor: ConnectionAcceptor
  let registry: ConnectionRegistry

  init(on address: SocketAddress, service: ServiceContext, reactor: isolated Reactor) throws(SystemError) {
    registry = ConnectionRegistry(service.configuration)
    let socket = try ListeningSocket(on: address)
    acceptor = ConnectionAcceptor(socket, isTCP: !address.isUnix, registry: registry, service: service)
    try acceptor.start(on: reactor)
  }
}
