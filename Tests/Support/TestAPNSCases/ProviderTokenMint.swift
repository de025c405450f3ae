package import Cryptography

/// Provider tokens, good ones and every kind of bad ones.
package struct ProviderTokenMint {
  var algorithm = "ES256"
  /// Nil leaves `kid` out.
  var keyIdentifier: String?
  var issuer: String
  /// JSON text; nil leaves `iat` out.
  var issuedAt: String?

  package init(algorithm: String = "ES256", keyIdentifier: String?, issuer: String, issuedAt: String?) {
    self.algorithm = algorithm
    self.keyIdentifier = keyIdentifier
    self.issuer = issuer
    self.issuedAt = issuedAt
  }

  /// Signs a token.
  /// - Parameter form: `raw`, `der`, `corrupt` or `empty`.
  package func sign(with key: P256PrivateKey, as form: String = "raw") throws -> String {
    let kid = keyIdentifier.map { #","kid":"\#($0)""# } ?? ""
    let iat = issuedAt.map { #","iat":\#($0)"# } ?? ""
    let header = Base64URL.encode(#"{"alg":"\#(algorithm)"\#(kid)}"#.utf8)
    let claims = Base64URL.encode(#"{"iss":"\#(issuer)"\#(iat)}"#.utf8)
    let signature = try key.sign(Array("\(header).\(claims)".utf8))
    return "\(header).\(claims).\(Base64URL.encode(Self.bytes(of: signature, as: form)))"
  }

  private static func bytes(of signature: ES256Signature, as form: String) -> [UInt8] {
    switch form {
    case "der": signature.der
    case "corrupt": signature.raw.map { $0 ^ 0x01 }
    case "empty": []
    default: signature.raw
    }
  }
}
