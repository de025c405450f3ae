package import Cryptography

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

/// One app on one device, the owner of a device token.
package struct RegisteredDevice: Equatable, Sendable {
  /// Why a token no longer works. Both reasons get 410.
  package enum End: Equatable, Sendable {
    /// The app was removed: `Unregistered`, with the time in milliseconds since 1970.
    case unregistered(atMilliseconds: Int64)
    /// The token expired: `ExpiredToken`, with the time in milliseconds since 1970.
    case expired(atMilliseconds: Int64)
  }

  package var environment: SimulatedEnvironment
  package var bundle: String
  /// The physical device; tokens with the same name belong to the same one. Nil when only this token does.
  package var name: String?
  package var kind: TokenKind
  package var end: End?
  /// The answers to the next good pushes, in order. The normal answers follow.
  package var answers: [ScriptedAnswer]
  /// An additional delay of the answers, in milliseconds.
  package var delayMilliseconds: Int

  package init(
    environment: SimulatedEnvironment,
    bundle: String,
    name: String? = nil,
    kind: TokenKind = .device,
    end: End? = nil,
    answers: [ScriptedAnswer] = [],
    delayMilliseconds: Int = 0
  ) {
    self.environment = environment
    self.bundle = bundle
    self.name = name
    self.kind = kind
    self.end = end
    self.answers = answers
    self.delayMilliseconds = delayMilliseconds
  }

  mutating func takeAnswer() -> ScriptedAnswer? {
    while let answer = answers.first, answer.times <= 0 { answers.removeFirst() }
    guard let answer = answers.first else { return nil }
    if answer.times != ScriptedAnswer.always { answers[0].times -= 1 }
    return answer
  }
}

/// An answer that replaces the success of some good pushes in a row.
package struct ScriptedAnswer: Codable, Equatable, Sendable {
  /// The HTTP status; 200 is a normal success.
  package var status: Int
  /// The `reason` of the JSON body; nil for no body, unless ``rawBody`` is set.
  package var reason: String?
  /// A body that replaces the JSON, such as a proxy's error page.
  package var rawBody: String?
  /// The number of pushes that get it, from 1, or ``always``.
  package var times: Int

  package static let always = Int.max

  package init(status: Int, reason: String? = nil, rawBody: String? = nil, times: Int = 1) {
    self.status = status
    self.reason = reason
    self.rawBody = rawBody
    self.times = times
  }

  private enum CodingKeys: String, CodingKey {
    case status, reason, times
    case rawBody = "raw_body"
  }

  /// Reads `{status, reason?, raw_body?, times?}`; `times` is 1 when absent.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    status = try container.decode(Int.self, forKey: .status)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    rawBody = try container.decodeIfPresent(String.self, forKey: .rawBody)
    times = try container.decodeIfPresent(Int.self, forKey: .times) ?? 1
  }
}

/// The use of a token.
package enum TokenKind: Equatable, Sendable {
  /// Every push but those of Live Activities.
  case device
  /// Starts activities of one attributes type. `allowsUpdates` is whether the user then allows updates; nil for the
  /// conduct's choice.
  case pushToStart(attributesType: String, allowsUpdates: Bool?)
  /// Updates and ends one activity of an attributes type.
  case update(activity: String, attributesType: String)
}

/// A signing key: its public half and its permissions on Apple's developer site.
package struct ProviderKey: Sendable {
  /// The apps that a key may push to.
  package enum Scope: Equatable, Sendable {
    /// Every app of its team.
    case team
    /// Only these bundle identifiers. `related` is the only key that may share a connection with this one.
    case topics(Set<String>, related: String?)
  }

  /// The key's identifier, `kid` in a provider token; Apple's have 10 characters.
  package let identifier: String
  /// The team that owns it, `iss` in a provider token.
  package let team: String
  package let scope: Scope
  /// Where it works. Legacy team keys work in both.
  package let environments: Set<SimulatedEnvironment>
  package let publicKey: P256PublicKey

  package init(
    identifier: String,
    team: String,
    scope: Scope = .team,
    environments: Set<SimulatedEnvironment> = Set(SimulatedEnvironment.allCases),
    publicKey: P256PublicKey
  ) {
    self.identifier = identifier
    self.team = team
    self.scope = scope
    self.environments = environments
    self.publicKey = publicKey
  }

  /// The public half of a key from PEM text, public or private (a `.p8` file).
  ///
  /// - Throws: when the text is neither, or not on P-256.
  package static func publicKey(fromPEM text: String) throws(CryptographyError) -> P256PublicKey {
    if text.contains("PRIVATE KEY") {
      return try P256PrivateKey(pem: text).publicKey
    }
    return try P256PublicKey(pem: text)
  }

  /// Whether a connection that this key has bound may also carry `other`.
  ///
  /// Team keys may share a connection; a topic key may share it with its related key. Source: "Establishing a
  /// token-based connection to APNs" (Apple).
  func mayShareConnection(with other: ProviderKey) -> Bool {
    if identifier == other.identifier { return true }
    switch (scope, other.scope) {
    case (.team, .team): return environments == other.environments
    case (.topics(_, let related), .topics): return related == other.identifier
    default: return false
    }
  }

  func covers(topic: String, bundle: String) -> Bool {
    guard case .topics(let topics, _) = scope else { return true }
    return topics.contains(bundle) || topics.contains(topic)
  }
}

/// The environments and topics of a client certificate.
///
/// Apple writes both into the certificate. Here they are registered separately, so that any certificate works, also a
/// self-signed one.
package struct RegisteredCertificate: Equatable, Sendable {
  /// Where it works. In the other environment a new connection gets a GOAWAY.
  package var environments: Set<SimulatedEnvironment>
  /// The topics that it may push to, with suffixes.
  package var topics: [String]

  package init(environments: Set<SimulatedEnvironment>, topics: [String]) {
    self.environments = environments
    self.topics = topics
  }

  /// The SHA-256 of a certificate in binary form (DER), in lower-case hexadecimal.
  static func fingerprint(of certificate: [UInt8]) -> String {
    SHA256.hash(certificate).hexadecimal()
  }
}
