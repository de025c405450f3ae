internal import FoundationEssentials
internal import Reactors
internal import Synchronization

/// The one provider token of a team and key in this process, shared by every reactor and connection.
///
/// Reading it takes an uncontended lock; signing happens off the message path. The string itself is shared, because two
/// signatures of the same claims are two tokens to APNs.
public final class ProviderTokenSource: Sendable {
  private struct State {
    var token: ProviderToken
    var isMinting = false
  }

  private let credentials: ProviderCredentials
  private let state: Mutex<State>

  /// Signs the first token.
  /// - Throws: when the key cannot sign.
  public init(_ credentials: ProviderCredentials) async throws {
    self.credentials = credentials
    state = Mutex(State(token: try await Self.mint(credentials)))
  }

  /// The newest token.
  public var current: ProviderToken { state.withLock { $0.token } }

  /// Makes a new token when it is time; call it about once a minute. A failure keeps the old one, and the next call
  /// tries again.
  public func renewIfDue() async throws {
    try await renew { ProviderTokenSchedule.isDue(age: $0.age) }
  }

  /// Makes a new token after APNs called `rejected` expired, unless that has been done or it is too young for that to be
  /// its fault.
  /// - Returns: whether a newer token than `rejected` is there now.
  func replace(_ rejected: ProviderToken) async throws -> Bool {
    try await renew { $0 == rejected && ProviderTokenSchedule.mayReplace(age: $0.age) }
    return current != rejected
  }

  private func renew(when isWanted: (ProviderToken) -> Bool) async throws {
    let isMine = state.withLock { state in
      guard !state.isMinting, isWanted(state.token) else { return false }
      state.isMinting = true
      return true
    }
    guard isMine else { return }
    defer { state.withLock { $0.isMinting = false } }
    let token = try await Self.mint(credentials)
    state.withLock { $0.token = token }
  }

  private static func mint(_ credentials: ProviderCredentials) async throws -> ProviderToken {
    let text = try await credentials.sign(issuedAt: Int64(Date().timeIntervalSince1970))
    return ProviderToken(authorization: "bearer \(text)", mintedAt: Reactor.now)
  }
}
