package struct SimulationRegistry: Sendable {
  /// The most device tokens. It bounds the memory that a runaway script can take.
  package static let devicesMax = 1_000_000

  /// Keys by their identifier.
  package private(set) var keys: [String: ProviderKey] = [:]
  /// Apps by bundle identifier, each with the team that owns it; nil when every team may push to it.
  package private(set) var bundles: [String: String?] = [:]
  /// Devices by lower-case device token.
  package private(set) var devices: [String: RegisteredDevice] = [:]
  /// Client certificates by the SHA-256 of their binary form, in lower-case hexadecimal.
  package private(set) var certificates: [String: RegisteredCertificate] = [:]
  /// The rate limit of each device; nil for none. The real service's limit is unpublished.
  package var tokenRate: TokenRate?
  /// Whether an unregistered, well-formed token is accepted.
  package var acceptsAnyToken = false
  /// Grows with every change of the keys, to invalidate caches.
  private(set) var keysRevision = 0

  /// An empty registry, which refuses every push.
  package init() {}

  /// Adds a key or replaces the one of the same identifier.
  package mutating func register(_ key: ProviderKey) {
    keys[key.identifier] = key
    keysRevision += 1
  }

  /// Adds an app; `team` nil lets every team push to it.
  package mutating func registerBundle(_ bundle: String, team: String?) {
    bundles[bundle] = .some(team)
  }

  /// Adds or replaces a client certificate.
  /// - Parameter der: its binary form.
  package mutating func register(_ certificate: RegisteredCertificate, der: [UInt8]) {
    certificates[RegisteredCertificate.fingerprint(of: der)] = certificate
  }

  /// Adds or replaces a device.
  /// - Parameter token: hexadecimal digits in either case.
  /// - Returns: false when the registry is full; then nothing has changed.
  @discardableResult
  package mutating func register(_ device: RegisteredDevice, token: String) -> Bool {
    let token = token.lowercased()
    guard devices[token] != nil || devices.count < Self.devicesMax else { return false }
    devices[token] = device
    return true
  }

  /// Removes a device.
  /// - Returns: whether it was registered.
  @discardableResult
  package mutating func removeDevice(token: String) -> Bool {
    devices.removeValue(forKey: token.lowercased()) != nil
  }

  /// Whether a team may push to an app.
  func owns(_ team: String, bundle: String) -> Bool {
    guard let owner = bundles[bundle] else { return false }
    return owner == nil || owner == team
  }

  /// Uses up one scripted answer of a device. `token` is lower-case.
  mutating func takeAnswer(token: String) -> ScriptedAnswer? {
    devices[token]?.takeAnswer()
  }
}

/// One of Apple's two push services. Keys and device tokens belong to one of them.
package enum SimulatedEnvironment: String, CaseIterable, Codable, Sendable {
  /// `api.push.apple.com`.
  case production
  /// `api.sandbox.push.apple.com`. Its successes carry an `apns-unique-id`.
  case sandbox
}

/// A rate limit of one device: a number of pushes within some seconds, in any distribution.
package struct TokenRate: Codable, Equatable, Sendable {
  /// Pushes, from 1.
  package var pushes: Int
  /// Seconds of the simulated clock, from 1.
  package var seconds: Int

  /// A rate; numbers below 1 count as 1.
  package init(pushes: Int, seconds: Int) {
    self.pushes = max(1, pushes)
    self.seconds = max(1, seconds)
  }
}

/// Counts the pushes of each device against a rate.
///
/// The generic cell rate algorithm (ITU-T I.371): each device has one moment up to which its pushes are paid for. A
/// refused push does not count.
struct TokenRateMeter {
  /// The number of devices from which idle ones are dropped.
  private static let devicesMax = 100_000

  private var paidUntil: [String: Int64] = [:]

  mutating func admits(_ token: String, _ rate: TokenRate, now: WallInstant) -> Bool {
    let window = Int64(rate.seconds) * 1_000_000
    let cost = window / Int64(rate.pushes)
    let paid = max(paidUntil[token] ?? 0, now.microseconds)
    guard paid - now.microseconds <= window - cost else { return false }
    paidUntil[token] = paid + cost
    if paidUntil.count > Self.devicesMax { paidUntil = paidUntil.filter { $0.value > now.microseconds } }
    return true
  }
}
