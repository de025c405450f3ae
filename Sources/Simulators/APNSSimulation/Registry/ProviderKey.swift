public import Crypto

/// A signing key as Apple's developer site knows it: the public half, and what it may be used for.
public struct ProviderKey: Sendable {
  /// What a key may push to.
  public enum Scope: Equatable, Sendable {
    /// Every app of its team.
    case team
    /// Only these bundle identifiers. `related` is the one key that may share a connection with this one.
    case topics(Set<String>, related: String?)
  }

  /// The key's identifier, `kid` in a provider token; Apple's have 10 characters.
  public let identifier: String
  /// The team that owns it, `iss` in a provider token.
  public let team: String
  /// What it may push to.
  public let scope: Scope
  /// Where it works. Legacy team keys work in both.
  public let environments: Set<SimulatedEnvironment>
  /// What signatures are checked against.
  public let publicKey: P256.Signing.PublicKey

  /// A key from its parts; by default one that covers its whole team in both environments.
  public init(
    identifier: String,
    team: String,
    scope: Scope = .team,
    environments: Set<SimulatedEnvironment> = Set(SimulatedEnvironment.allCases),
    publicKey: P256.Signing.PublicKey
  ) {
    self.identifier = identifier
    self.team = team
    self.scope = scope
    self.environments = environments
    self.publicKey = publicKey
  }

  /// A key from PEM text: a public key, or a private one (a `.p8` file) of which only the public half is kept.
  ///
  /// - Throws: swift-crypto's error when the text is neither, or not on P-256.
  public static func publicKey(fromPEM text: String) throws -> P256.Signing.PublicKey {
    if text.contains("PRIVATE KEY") {
      return try P256.Signing.PrivateKey(pemRepresentation: text).publicKey
    }
    return try P256.Signing.PublicKey(pemRepresentation: text)
  }

  /// Whether a connection on which this key was used first may also carry `other`.
  ///
  /// Team keys go together; a topic key goes with itself and its related key, and with no team key. Source:
  /// "Establishing a token-based connection to APNs" (Apple).
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

/// A client certificate as the service knows it: what it may push to, and where.
///
/// Apple writes both into the certificate. Here they are registered beside it, so that any certificate will do, a
/// self-signed one too.
public struct RegisteredCertificate: Equatable, Sendable {
  /// Where it works. One for the other environment is sent away with a GOAWAY as soon as it has connected.
  public var environments: Set<SimulatedEnvironment>
  /// The topics it may push to, suffixes included.
  public var topics: [String]

  /// A certificate for some topics.
  public init(environments: Set<SimulatedEnvironment>, topics: [String]) {
    self.environments = environments
    self.topics = topics
  }

  /// What a certificate is known by: the SHA-256 of its binary form (DER), in lower-case hexadecimal.
  static func fingerprint(of certificate: [UInt8]) -> String {
    SHA256.hash(data: certificate).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
