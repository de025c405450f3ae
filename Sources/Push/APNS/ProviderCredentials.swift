internal import FoundationEssentials
internal import JWTKit

/// The key that signs provider tokens, and whose it is.
public struct ProviderCredentials: Sendable {
  private let key: ES256PrivateKey
  private let keyIdentifier: String
  private let teamIdentifier: String

  /// Reads a key.
  /// - Parameters:
  ///   - keyIdentifier: ten characters. teamIdentifier: ten characters.
  ///   - privateKey: the text of the `.p8` file: a P-256 key as PKCS#8 PEM.
  /// - Throws: an error that says what is wrong with the key.
  public init(keyIdentifier: String, teamIdentifier: String, privateKey: String) throws {
    key = try ES256PrivateKey(pem: privateKey)
    self.keyIdentifier = keyIdentifier
    self.teamIdentifier = teamIdentifier
  }

  /// Signs a token: `alg` ES256 and `kid` in the header, `iss` and `iat` as the only claims.
  func sign(issuedAt unixSeconds: Int64) async throws -> String {
    let keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyIdentifier))
    return try await keys.sign(Claims(iss: teamIdentifier, iat: unixSeconds), kid: JWKIdentifier(string: keyIdentifier))
  }

  /// Seconds as an integer: APNs also takes other forms, and documents only this one.
  private struct Claims: JWTPayload {
    let iss: String
    let iat: Int64

    func verify(using algorithm: some JWTAlgorithm) {}
  }
}
