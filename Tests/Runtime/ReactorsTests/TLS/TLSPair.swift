import Reactors

/// The two ends of a TCP connection over the loopback interface.
func socketPair(on reactor: isolated Reactor) async throws -> (client: Socket, server: Socket) {
  guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure() }
  let listener = try ListeningSocket(on: address)
  let client = try await Socket.connect(to: listener.address, within: .seconds(5), on: reactor)
  _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(5))
  guard case .accepted(let server, _) = listener.accept() else { throw TestFailure() }
  return (client, server)
}

struct TestFailure: Error {}

/// How both sides' handshakes ended.
struct Handshake {
  let client: Result<TLSStream, TLSError>
  let server: Result<TLSStream, TLSError>
}

/// Shakes hands over a new connection.
func shakeHands(
  _ client: TLSContext, _ server: TLSContext, host: String = "localhost", on reactor: isolated Reactor
) async throws -> Handshake {
  let sockets = try await socketPair(on: reactor)
  let accepted = Accepted()
  reactor.start {
    do throws(TLSError) {
      accepted.result = .success(
        try await TLSStream.accept(over: sockets.server, context: server, within: .seconds(5), on: reactor))
    } catch {
      accepted.result = .failure(error)
    }
    accepted.done.signal(on: reactor)
  }
  let connected: Result<TLSStream, TLSError>
  do throws(TLSError) {
    connected = .success(
      try await TLSStream.connect(
        over: sockets.client, host: host, context: client, within: .seconds(5), on: reactor))
  } catch {
    connected = .failure(error)
  }
  _ = await accepted.done.wait(for: .seconds(10), on: reactor)
  guard let server = accepted.result else { throw TestFailure() }
  return Handshake(client: connected, server: server)
}

private final class Accepted {
  var result: Result<TLSStream, TLSError>?
  let done = Signal()
}

/// An authority, and contexts for it.
struct TestTrust {
  let authority: CertificateAuthority

  init(name: String = "Test authority") throws {
    authority = try CertificateAuthority(name: name)
  }

  func client(protocols: [String] = ["h2"]) throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: protocols)
  }

  func server(
    for hosts: [String] = ["localhost", "127.0.0.1"], validity: Range<Int> = -60..<3600, protocols: [String] = ["h2"]
  ) throws -> TLSContext {
    let identity = try authority.issue(for: hosts, validity: validity)
    return try TLSContext(certificate: .text(identity.certificate), key: .text(identity.key), protocols: protocols)
  }
}

extension Result where Failure == TLSError {
  var error: TLSError? {
    if case .failure(let error) = self { error } else { nil }
  }
}
