internal import API
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
package import Logging
internal import Reactors
internal import Synchronization

/// A host's webhook: answers events as it is told to, and remembers those with a right signature.
package final class EventReceiver: Sendable {
  /// An event as it came.
  package struct Arrival: Sendable, Equatable {
    /// The event's own.
    package let id: String
    /// Its type, and whom and what it is about.
    package let type: String
    /// The user.
    package let user: String
    /// The ledger's row; empty for a device.
    package let push: String
    /// The answer.
    package let status: Int
    /// The whole content.
    package let content: String
  }

  private struct Document: Decodable {
    struct Content: Decodable {
      let user_id: String
      let push_id: String?
    }

    let type: String
    let data: Content
  }

  private struct State {
    var status = 200
    var fields: HTTPFields = [:]
    var arrivals: [Arrival] = []
    var strangers = 0
    var underWay: [String: Int] = [:]
    var mostOfAUser = 0
    var most = 0
    var isHeld = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let authentication: WebhookAuthentication
  private let group: ReactorGroup
  private let service: Mutex<HTTPService?> = Mutex(nil)

  /// Starts on loopback.
  /// - Parameter key: what events are signed with.
  package init(key: [UInt8], port: UInt16 = 0, logger: Logger) async throws {
    authentication = WebhookAuthentication([.init(bearer: UUID().uuidString, signingKey: key)])
    group = try ReactorGroup(count: 1)
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: port) else {
      preconditionFailure("the address is one")
    }
    var routes = HTTPRoutes()
    routes.add(.post, "/events") { [self] request, _ in await answer(request) }
    let started = try await HTTPService.start(
      routes, on: address, reactors: group.reactors, tls: nil, logger: logger)
    service.withLock { $0 = started }
  }

  /// Where events go.
  package var url: String { service.withLock { "http://\($0.map { "\($0.address)" } ?? "")/events" } }

  /// Everything that came with a right signature, in order.
  package var arrivals: [Arrival] { state.withLock { $0.arrivals } }

  /// What was answered with 200.
  package var taken: [Arrival] { arrivals.filter { $0.status == 200 } }

  /// Requests without a right signature.
  package var strangers: Int { state.withLock { $0.strangers } }

  /// The most requests that were under way at once, of one user and of all.
  package var most: (ofAUser: Int, ofAll: Int) { state.withLock { ($0.mostOfAUser, $0.most) } }

  /// Answers so from now on.
  package func answer(_ status: Int, retryAfter: String? = nil) {
    state.withLock {
      $0.status = status
      $0.fields = [:]
      $0.fields[.retryAfter] = retryAfter
    }
  }

  /// Lets events wait for ``release()``.
  package func hold() { state.withLock { $0.isHeld = true } }

  /// Answers what waits.
  package func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      state.isHeld = false
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Ends it; what waits is answered.
  package func stop() async {
    release()
    let running = service.withLock { $0 }
    _ = await running?.drain(within: .seconds(2))
    await group.stop()
  }

  private func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    let now = Int64(Date().timeIntervalSince1970)
    guard let signature = WebhookSignature(request.head.fields, now: now),
      authentication.accepts(signature, of: request.body),
      let document = try? JSONDecoder().decode(Document.self, from: Data(request.body))
    else {
      state.withLock { $0.strangers += 1 }
      return HTTPServerResponse(status: .unauthorized)
    }
    let user = document.data.user_id
    state.withLock { state in
      state.underWay[user, default: 0] += 1
      state.mostOfAUser = max(state.mostOfAUser, state.underWay[user] ?? 0)
      state.most = max(state.most, state.underWay.values.reduce(0, +))
    }
    await gate()
    return state.withLock { state in
      state.underWay[user, default: 0] -= 1
      state.arrivals.append(
        Arrival(
          id: request.head.fields[HTTPField.Name("webhook-id")!] ?? "", type: document.type, user: user,
          push: document.data.push_id ?? "", status: state.status,
          content: String(decoding: request.body, as: UTF8.self)))
      return HTTPServerResponse(status: HTTPResponse.Status(code: state.status), fields: state.fields)
    }
  }

  private func gate() async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if state.isHeld { state.held.append(continuation) }
        return !state.isHeld
      }
      if goesOn { continuation.resume() }
    }
  }
}
