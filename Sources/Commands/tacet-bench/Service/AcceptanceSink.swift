import FoundationEssentials
import HTTP2
import Reactors

/// An APNs that accepts everything at once and notes what it has accepted, with as little work as can be: what it took
/// would be missing to those who are measured. It checks nothing; the simulator does.
final class AcceptanceSink {
  /// Where tokens begin in `/3/device/<token>`.
  private static let tokenOffset = "/3/device/".utf8.count

  /// In their order since the last ``take()``.
  private var acceptances: [Acceptance] = []
  /// Requests that were no pushes of a message, since the last ``take()``.
  private(set) var others = 0
  private var awaited = Int.max
  private var watched: (message: UUID, missing: Int)?
  private let arrival = Signal()

  /// Accepted since the last ``take()``.
  var count: Int { acceptances.count }

  /// What was accepted since the last time.
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

  /// Waits for this many pushes of one message since the last ``take()``. One wait at a time.
  /// - Returns: false when the limit passed first.
  func wait(for message: UUID, pushes: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    watched = (message, pushes - acceptances.count { $0.message == message })
    defer { watched = nil }
    let deadline = Reactor.now + limit.clampedNanoseconds
    while let missing = watched?.missing, missing > 0 {
      let now = Reactor.now
      guard now < deadline, await arrival.wait(for: .nanoseconds(deadline - now), on: reactor) else { return false }
    }
    return true
  }
}

extension AcceptanceSink: HTTP2RequestHandler {
  /// Notes and accepts a push.
  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    note(request)
    var fields = HTTP2Fields(reservingBytes: 64)
    if let identifier = request.fields["apns-id"] { fields.append("apns-id", identifier, isIndexed: false) }
    connection.respond(to: request.streamID, status: 200, fields: fields, on: reactor)
    if acceptances.count >= awaited || watched?.missing == 0 { arrival.signal(on: reactor) }
  }

  private func note(_ request: HTTP2ServerRequest) {
    guard let text = request.fields["apns-collapse-id"], let message = UUID(uuidString: text),
      let device = DeviceKey(token: request.path.dropFirst(Self.tokenOffset))
    else {
      others += 1
      return
    }
    acceptances.append(Acceptance(message: message, device: device, moment: request.arrival))
    if message == watched?.message { watched?.missing -= 1 }
  }
}
