import FoundationEssentials
import HTTP2
import Reactors
import TLSStreams

/// The sink behind its socket, on a reactor of its own.
struct RunningSink: Sendable {
  /// Where the service sends its pushes.
  let url: String
  /// The PEM text that the service has to trust.
  let authority: String
  private let bound: ReactorBound<(sink: AcceptanceSink, listener: HTTP2Listener)>

  /// Listens on a port of the loopback address, with a certificate of its own.
  static func start(on reactor: Reactor) async throws -> RunningSink {
    let authority = try CertificateAuthority(name: "tacet-bench")
    let identity = try authority.issue(for: ["localhost", "127.0.0.1"])
    let context = try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["h2"])
    let certificate = authority.certificate
    return try await reactor.perform { reactor in
      let sink = AcceptanceSink()
      guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { preconditionFailure() }
      let listener = try HTTP2Listener(on: address, context: context, handler: sink, reactor: reactor)
      return RunningSink(
        url: "https://\(listener.address)", authority: certificate,
        bound: ReactorBound((sink: sink, listener: listener), on: reactor))
    }
  }

  /// Takes no more connections.
  func stop() async { await bound.perform { $0.listener.stop(on: $1) } }

  /// Forgets what has been accepted.
  func clear() async { await bound.perform { bound, _ in _ = bound.sink.take() } }

  /// What has been accepted since the last ``take()`` or ``clear()``.
  func take() async -> [Acceptance] { await bound.perform { bound, _ in bound.sink.take() } }

  /// Waits for this many pushes since then.
  /// - Returns: false when the limit passed first.
  func wait(for count: Int, within limit: Duration) async -> Bool {
    await bound.perform { await $0.sink.wait(for: count, within: limit, on: $1) }
  }

  /// Waits for this many pushes of one message since then.
  /// - Returns: false when the limit passed first.
  func wait(for message: UUID, pushes: Int, within limit: Duration) async -> Bool {
    await bound.perform { await $0.sink.wait(for: message, pushes: pushes, within: limit, on: $1) }
  }
}
