internal import FoundationEssentials
internal import JWTKit

/// A key bound to the one algorithm it is used with, so that no token can choose another for it.
struct VerificationKey: Sendable {
  /// The algorithms whose tokens are looked at.
  enum Algorithm: String, Sendable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
  }

  let algorithm: Algorithm
  private let verifier: any JWTAlgorithm

  /// The shared secret of HS256, at least 32 bytes.
  init(secret: String) async throws {
    algorithm = .hs256
    verifier = try await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256).getKey()
  }

  /// A public key on P-256; the coordinates are 32 bytes each, in base64url.
  init(x: String, y: String) async throws {
    algorithm = .es256
    let key = try ES256PublicKey(parameters: (x: x, y: y))
    verifier = try await JWTKeyCollection().add(ecdsa: key).getKey()
  }

  /// A public RSA key of 2048 bits or more, in base64url.
  init(modulus: String, exponent: String) async throws {
    algorithm = .rs256
    let key = try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
    verifier = try await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256).getKey()
  }

  /// Whether the token is signed with this key. A signature of the wrong length is wrong, though libraries call it an error.
  func hasSigned(_ token: CompactToken) -> Bool {
    (try? verifier.verify(token.signature, signs: token.signed)) ?? false
  }
}
