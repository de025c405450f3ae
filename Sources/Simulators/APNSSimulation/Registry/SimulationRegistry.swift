/// What the simulated service knows: keys, apps and devices.
public struct SimulationRegistry: Sendable {
  /// Device tokens at most, so that a script gone wild does not take the machine's memory; far above any demo's needs.
  public static let devicesMax = 1_000_000

  /// Keys by their identifier.
  public private(set) var keys: [String: ProviderKey] = [:]
  /// Apps by bundle identifier, each with the team that owns it; nil when every team may push to it.
  public private(set) var bundles: [String: String?] = [:]
  /// Devices by lower-case device token.
  public private(set) var devices: [String: RegisteredDevice] = [:]
  /// Client certificates by the SHA-256 of their binary form, in lower-case hexadecimal.
  public private(set) var certificates: [String: RegisteredCertificate] = [:]
  /// How many pushes each device takes; nil is as many as come. What the real service allows is unpublished.
  public var tokenRate: TokenRate?
  /// Whether a well-formed token that nobody registered is taken as one that fits the push.
  public var acceptsAnyToken = false
  /// Grows with every change of the keys, so that what was concluded from them can be forgotten.
  private(set) var keysRevision = 0

  /// An empty registry, which refuses every push.
  public init() {}

  /// Adds a key or replaces the one of the same identifier.
  public mutating func register(_ key: ProviderKey) {
    keys[key.identifier] = key
    keysRevision += 1
  }

  /// Adds an app; `team` nil lets every team push to it.
  public mutating func registerBundle(_ bundle: String, team: String?) {
    bundles[bundle] = .some(team)
  }

  /// Adds a client certificate or replaces what is known of it.
  /// - Parameter der: its binary form.
  public mutating func register(_ certificate: RegisteredCertificate, der: [UInt8]) {
    certificates[RegisteredCertificate.fingerprint(of: der)] = certificate
  }

  /// Adds or replaces a device.
  /// - Parameter token: hexadecimal digits in either case; they are compared without it.
  /// - Returns: false when the registry is full, and nothing was changed.
  @discardableResult
  public mutating func register(_ device: RegisteredDevice, token: String) -> Bool {
    let token = token.lowercased()
    guard devices[token] != nil || devices.count < Self.devicesMax else { return false }
    devices[token] = device
    return true
  }

  /// Forgets a device; its token is then one of nobody.
  /// - Returns: whether it was there.
  @discardableResult
  public mutating func removeDevice(token: String) -> Bool {
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

/// Which of Apple's two push services a listener plays; keys and device tokens belong to one of them.
public enum SimulatedEnvironment: String, CaseIterable, Codable, Sendable {
  /// As `api.push.apple.com`.
  case production
  /// As `api.sandbox.push.apple.com`; its successes carry an `apns-unique-id`.
  case sandbox
}

/// How many pushes one device takes: so many in so many seconds, however they are spread in them.
public struct TokenRate: Codable, Equatable, Sendable {
  /// Pushes, from 1.
  public var pushes: Int
  /// Seconds of the simulated clock, from 1.
  public var seconds: Int

  /// A rate; numbers below 1 count as 1.
  public init(pushes: Int, seconds: Int) {
    self.pushes = max(1, pushes)
    self.seconds = max(1, seconds)
  }
}

/// Counts the pushes of each device against a rate.
///
/// The generic cell rate algorithm (ITU-T I.371): one moment for each device, the one up to which its pushes are paid for.
/// A refused push is not counted.
struct TokenRateMeter {
  /// Devices remembered before those that owe nothing are forgotten.
  private static let devicesMax = 100_000

  private var paidUntil: [String: Int64] = [:]

  /// Whether a device takes a push now.
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
