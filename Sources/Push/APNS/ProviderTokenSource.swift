internal import Reactors
internal import Synchronization

/// The one provider token of a team and key in this process, shared by every reactor and connection.
///
/// Reading it takes an uncontended lock; signing happens off the message path. All connections share the string, because APNs
/// counts two signatures of the same claims as two tokens.
public final class ProviderTokenSource: Sendable {
  private struct State {
    var token: ProviderToken
    var isMinting = false
    /// Callers that want a new token while one is being signed wait for that one.
    var waiters: [UnsafeContinuation<Void, Never>] = []
  }

  private let credentials: ProviderCredentials
  private let schedule: ProviderTokenSchedule
  private let state: Mutex<State>

  /// Signs the first token.
  /// - Throws: when the key cannot sign.
  public convenience init(_ credentials: ProviderCredentials) async throws {
    self.init(
      credentials, schedule: ProviderTokenSchedule(draw: .random(in: 0..<1)), current: try await Self.mint(credentials))
  }

  /// Starts with an existing token.
  init(_ credentials: ProviderCredentials, schedule: ProviderTokenSchedule, current: ProviderToken) {
    self.credentials = credentials
    self.schedule = schedule
    state = Mutex(State(token: current))
  }

  /// The newest token.
  public var current: ProviderToken { state.withLock { $0.token } }

  /// Makes a new token when it is due, or when the clock has been set since the last signature. Call it about once a minute.
  /// A failure keeps the old one, and the next call tries again.
  public func renewIfDue() async throws {
    let wallSeconds = ClockDifference.wallSeconds
    try await renew { schedule.isDue(age: $0.age, clockStep: $0.clockStep(wallSeconds: wallSeconds)) }
  }

  /// Makes a new token after APNs called `rejected` expired, unless a newer one exists. A token too young to have expired is
  /// kept: then this machine's clock is wrong, and another token would be just as wrong.
  /// - Returns: whether a newer token than `rejected` exists now.
  func replace(_ rejected: ProviderToken) async throws -> Bool {
    let wallSeconds = ClockDifference.wallSeconds
    try await renew {
      $0 == rejected
        && ProviderTokenSchedule.mayReplace(age: $0.age, clockStep: $0.clockStep(wallSeconds: wallSeconds))
    }
    return current != rejected
  }

  private func renew(when isWanted: (ProviderToken) -> Bool) async throws {
    let isMine: Bool? = state.withLock { state in
      guard isWanted(state.token) else { return nil }
      defer { state.isMinting = true }
      return !state.isMinting
    }
    switch isMine {
    case true?: try await mintNext()
    case false?: await mintingEnds()
    case nil: break
    }
  }

  private func mintNext() async throws {
    defer { endMinting() }
    let token = try await Self.mint(credentials)
    state.withLock { $0.token = token }
  }

  private func endMinting() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.isMinting = false
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func mintingEnds() async {
    await withUnsafeContinuation { continuation in
      let isOver = state.withLock { state in
        if state.isMinting { state.waiters.append(continuation) }
        return !state.isMinting
      }
      if isOver { continuation.resume() }
    }
  }

  private static func mint(_ credentials: ProviderCredentials) async throws -> ProviderToken {
    let wallSeconds = ClockDifference.wallSeconds
    let mintedAt = Reactor.now
    let text = try await credentials.sign(issuedAt: wallSeconds)
    return ProviderToken(authorization: "bearer \(text)", mintedAt: mintedAt, issuedAt: wallSeconds)
  }
}
