package import Cryptography

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
