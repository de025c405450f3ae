internal import Reactors
internal import Synchronization

/// The one provider token of a team and key in this process, shared by every reactor and connection.
///
/// Reading it takes a lock that is hardly ever contended; a signature under it takes some 40 µs, twice an hour. All connections
/// share the string, because APNs counts two signatures of the same claims as two tokens.
package final class ProviderTokenSource: Sendable {
  private let credentials: ProviderCredentials
  private let schedule: ProviderTokenSchedule
  private let token: Mutex<ProviderToken>

  /// Signs the first token.
  /// - Throws: when the key cannot sign.
  package convenience init(_ credentials: ProviderCredentials) throws {
    self.init(
      credentials, schedule: ProviderTokenSchedule(draw: .random(in: 0..<1)), current: try Self.mint(credentials))
  }

  init(_ credentials: ProviderCredentials, schedule: ProviderTokenSchedule, current: ProviderToken) {
    self.credentials = credentials
    self.schedule = schedule
    token = Mutex(current)
  }

  package var current: ProviderToken { token.withLock { $0 } }

  /// Makes a new token when it is due, or when the clock has been set since the last signature. Call it about once a minute.
  /// A failure keeps the old one, and the next call tries again.
  package func renewIfDue() throws {
    let wallSeconds = ClockDifference.wallSeconds
    try renew { schedule.isDue(age: $0.age, clockStep: $0.clockStep(wallSeconds: wallSeconds)) }
  }

  /// Makes a new token after APNs called `rejected` expired, unless a newer one exists. A token too young to have expired is
  /// kept: then this machine's clock is wrong, and another token would be just as wrong.
  /// - Returns: whether a newer token than `rejected` exists now.
  func replace(_ rejected: ProviderToken) throws -> Bool {
    let wallSeconds = ClockDifference.wallSeconds
    try renew {
      $0 == rejected
        && ProviderTokenSchedule.mayReplace(age: $0.age, clockStep: $0.clockStep(wallSeconds: wallSeconds))
    }
    return current != rejected
  }

  private func renew(when isWanted: (ProviderToken) -> Bool) throws {
    try token.withLock { token in
      if isWanted(token) { token = try Self.mint(credentials) }
    }
  }

  private static func mint(_ credentials: ProviderCredentials) throws -> ProviderToken {
    let wallSeconds = ClockDifference.wallSeconds
    let mintedAt = Reactor.now
    let text = try credentials.sign(issuedAt: wallSeconds)
    return ProviderToken(authorization: "bearer \(text)", mintedAt: mintedAt, issuedAt: wallSeconds)
  }
}
