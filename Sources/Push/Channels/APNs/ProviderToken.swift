internal import Cryptography
internal import Reactors
internal import Synchronization

/// A signed statement of the sender's identity, shown with every request.
package struct ProviderToken: Sendable, Equatable {
  /// The header field's value: `bearer` and the token. A secret for an hour.
  let authorization: String

  /// Monotonic nanoseconds.
  let mintedAt: UInt64

  /// The claim `iat`: Unix seconds by this machine's wall clock.
  let issuedAt: Int64

  package var age: Duration { .nanoseconds(Int64(Reactor.now &- mintedAt)) }

  /// How far the wall clock has been set since the token was signed; positive when forward, also by a machine that slept.
  func clockStep(wallSeconds: Int64) -> Duration { .seconds(wallSeconds - issuedAt) - age }
}

/// The key that signs provider tokens, with its identifier and its team's.
package struct ProviderCredentials: Sendable {
  private let key: P256PrivateKey
  private let keyIdentifier: String
  private let teamIdentifier: String

  /// Reads a key.
  /// - Parameters:
  ///   - keyIdentifier: ten characters. teamIdentifier: ten characters.
  ///   - privateKey: the text of the `.p8` file: a P-256 key as PKCS#8 PEM.
  /// - Throws: the fault of the key.
  package init(keyIdentifier: String, teamIdentifier: String, privateKey: String) throws {
    key = try P256PrivateKey(pem: privateKey)
    self.keyIdentifier = keyIdentifier
    self.teamIdentifier = teamIdentifier
  }

  /// Signs a token: `alg` ES256 and `kid` in the header, `iss` and `iat`, whole seconds, as the only claims. The
  /// identifiers are letters and digits, so that they need no escapes.
  func sign(issuedAt unixSeconds: Int64) throws -> String {
    let header = #"{"alg":"ES256","kid":"\#(keyIdentifier)"}"#
    let claims = #"{"iat":\#(unixSeconds),"iss":"\#(teamIdentifier)"}"#
    return try SignedStatement.text(header: header.utf8, claims: claims.utf8) { try key.sign($0).raw }
  }
}

/// When a provider token is renewed. Pure: ages come in.
///
/// APNs wants a token replaced at most every 20 minutes on a connection, and refuses one older than 60. A check once a minute
/// makes a new one at the age of 25 to 34; a connection moves to it once it has shown its own for 20. So the oldest token in
/// use is younger than 55 minutes, which leaves five for a wrong clock. Source: "Establishing a token-based connection to
/// APNs".
struct ProviderTokenSchedule: Sendable {
  /// How long APNs takes a token.
  static let lifetime = Duration.seconds(60 * 60)

  /// How long a connection keeps the token that it shows, and how long the process keeps one that APNs rejected: new tokens
  /// in a loop make APNs refuse the connection altogether.
  static let keepAge = Duration.seconds(20 * 60)

  /// Each process draws its age once, so that replicas that started together drift apart.
  static let renewalAges = (earliest: Duration.seconds(25 * 60), latest: Duration.seconds(34 * 60))

  /// A clock step since the signature makes `iat` wrong by as much; this is nearly all the slack of the schedule.
  private static let clockStepMax = Duration.seconds(4 * 60)

  let renewalAge: Duration

  /// - Parameter draw: a random number in `0 ..< 1`.
  init(draw: Double) {
    let (earliest, latest) = Self.renewalAges
    renewalAge = earliest + (latest - earliest) * draw
  }

  /// - Parameters:
  ///   - age: since the signature, by the monotonic clock.
  ///   - clockStep: how far the wall clock has been set since, in either direction.
  func isDue(age: Duration, clockStep: Duration) -> Bool {
    age >= renewalAge || Self.isStepped(clockStep)
  }

  /// Whether a token that APNs calls expired, or that a connection shows, may be replaced.
  static func mayReplace(age: Duration, clockStep: Duration = .zero) -> Bool {
    age >= keepAge || isStepped(clockStep)
  }

  private static func isStepped(_ clockStep: Duration) -> Bool {
    clockStep >= clockStepMax || clockStep <= .zero - clockStepMax
  }
}

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
