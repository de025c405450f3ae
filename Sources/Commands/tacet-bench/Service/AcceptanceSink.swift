import FoundationEssentials
import HTTP2
import Reactors

/// An APNs that accepts and records everything at once, with as little work as possible, because its processor time
/// would be missing for the measured processes. The simulator has the checks.
final class AcceptanceSink {
  private static let tokenOffset = "/3/device/".utf8.count

  /// In order since the last ``take()``.
  private var acceptances: [Acceptance] = []
  /// Other requests since the last ``take()``.
  private(set) var others = 0
  private var awaited = Int.max
  private let arrival = Signal()

  /// Accepted since the last ``take()``.
  var count: Int { acceptances.count }

  /// The acceptances since the last call.
  func take() -> [Acceptance] {
    defer {
      acceptances = []
      others = 0
    }
    return acceptances
  }

  /// Waits for this many pushes since the last ``take()``. One wait at a time.
  /// - Returns: false when the limit passed first.
  func wait(for count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    awaited = count
    defer { awaited = .max }
    let deadline = Reactor.now + limit.clampedNanoseconds
    while acceptances.count < count {
      let now = Reactor.now
      guard now < deadline, await arrival.wait(for: .nanoseconds(deadline - now), on: reactor) else { return false }
    }
    return true
  }

}

extension AcceptanceSink: HTTP2RequestHandler {
  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    record(request)
    var fields = HTTP2Fields(reservingBytes: 64)
    if let identifier = request.fields["apns-id"] { fields.append("apns-id", identifier, isIndexed: false) }
    connection.respond(to: request.streamID, status: 200, fields: fields, on: reactor)
    if acceptances.count >= awaited { arrival.signal(on: reactor) }
  }

  private func record(_ request: HTTP2ServerRequest) {
    guard let text = request.fields["apns-collapse-id"], let message = UUID(uuidString: text),
      let device = DeviceKey(token: request.path.dropFirst(Self.tokenOffset))
    else {
      others += 1
      return
    }
    acceptances.append(Acceptance(message: message, device: device, moment: request.arrival))
  }
}

struct Acceptance: Sendable, Equatable {
  /// The collapse identifier, which is the message's id.
  let message: UUID
  let device: DeviceKey
  /// When the whole request was there, in monotonic nanoseconds.
  let moment: UInt64
}

/// The first 64 bits of a device token. Tokens are random or hashes, so these identify them.
struct DeviceKey: Hashable, Sendable {
  let bits: UInt64
}

extension DeviceKey {
  /// - Parameter token: hexadecimal, at least 16 digits.
  init?(token: some StringProtocol) {
    let digits = token.prefix(16)
    guard digits.utf8.count == 16, let bits = UInt64(digits, radix: 16) else { return nil }
    self.init(bits: bits)
  }
}

/// The sink with its listener, on a separate reactor.
struct RunningSink: Sendable {
  /// The service's APNs address.
  let url: String
  /// The PEM text that the service must trust.
  let authority: String
  private let bound: ReactorBound<(sink: AcceptanceSink, listener: HTTP2Listener)>

  /// Listens on a port of the loopback address, with a new certificate.
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

  /// Accepts no more connections.
  func stop() async { await bound.perform { $0.listener.stop(on: $1) } }

  func clear() async { await bound.perform { bound, _ in _ = bound.sink.take() } }

  /// The acceptances since the last ``take()`` or ``clear()``.
  func take() async -> [Acceptance] { await bound.perform { bound, _ in bound.sink.take() } }

  /// Waits for this many pushes since then.
  /// - Returns: false when the limit passed first.
  func wait(for count: Int, within limit: Duration) async -> Bool {
    await bound.perform { await $0.sink.wait(for: count, within: limit, on: $1) }
  }
}
