import HTTP1
import HTTPTypes
import Synchronization

/// What an issuer publishes at the moment.
final class KeySetServer: Sendable {
  static let path = "/auth/v1/.well-known/jwks.json"

  private struct State {
    var document = keySet()
    var status = HTTPResponse.Status.ok
    var count = 0
    var isHeld = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// How often it was asked.
  var count: Int { state.withLock { $0.count } }

  var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add(.get, Self.path) { [self] _, _ in
      await begin()
      return state.withLock { HTTPServerResponse(status: $0.status, json: Array($0.document.utf8)) }
    }
    return routes
  }

  func publish(_ document: String) { state.withLock { $0.document = document } }

  /// Answers so from now on.
  func answer(_ status: HTTPResponse.Status) { state.withLock { $0.status = status } }

  /// Lets who asks wait for ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      state.isHeld = false
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  private func begin() async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        state.count += 1
        if state.isHeld { state.held.append(continuation) }
        return !state.isHeld
      }
      if goesOn { continuation.resume() }
    }
  }
}
