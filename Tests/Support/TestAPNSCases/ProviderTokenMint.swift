package import Crypto
internal import Foundation

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
  package func sign(with key: P256.Signing.PrivateKey, as form: String = "raw") throws -> String {
    let kid = keyIdentifier.map { #","kid":"\#($0)""# } ?? ""
    let iat = issuedAt.map { #","iat":\#($0)"# } ?? ""
    let header = Self.base64URL(Data(#"{"alg":"\#(algorithm)"\#(kid)}"#.utf8))
    let claims = Self.base64URL(Data(#"{"iss":"\#(issuer)"\#(iat)}"#.utf8))
    let signature = try key.signature(for: Data("\(header).\(claims)".utf8))
    return "\(header).\(claims).\(Self.base64URL(Self.bytes(of: signature, as: form)))"
  }

  private static func bytes(of signature: P256.Signing.ECDSASignature, as form: String) -> Data {
    switch form {
    case "der": signature.derRepresentation
    case "corrupt": Data(signature.rawRepresentation.map { $0 ^ 0x01 })
    case "empty": Data()
    default: signature.rawRepresentation
    }
  }

  static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}
