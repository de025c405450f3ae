internal import Crypto

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
