internal import FoundationEssentials
internal import JWTKit

/// The usable keys of a JSON Web Key Set (RFC 7517).
struct KeySet: Sendable {
  /// What chooses a key: both, so that a key of one kind is never found for the other.
  struct Name: Hashable, Sendable {
    let kid: String
    let algorithm: VerificationKey.Algorithm
  }

  /// Keys taken of a set. 100: issuers have one to three.
  static let keysMax = 100

  private(set) var keys: [Name: VerificationKey] = [:]

  /// Reads a set. What is not usable is left out: keys of other kinds and uses, weak ones, and those without a name. Of
  /// several with the same name and algorithm the first is taken.
  /// - Throws: when the document is no key set.
  init(_ document: [UInt8]) async throws {
    let document = try JSONDecoder().decode(Document.self, from: Data(document))
    for key in document.keys where keys.count < Self.keysMax {
      guard let key = key.key, let kid = key.usableName, let usable = try? await key.verificationKey else { continue }
      let name = Name(kid: kid, algorithm: usable.algorithm)
      if keys[name] == nil { keys[name] = usable }
    }
  }

  private struct Document: Decodable {
    let keys: [Entry]
  }

  /// A key, or anything else in its place.
  private struct Entry: Decodable {
    let key: PublishedKey?

    init(from decoder: any Decoder) {
      key = try? PublishedKey(from: decoder)
    }
  }
}

/// One key as it is published; RFC 7518 section 6 names the members.
private struct PublishedKey: Decodable {
  let kty: String
  let kid: String?
  let use: String?
  let keyOps: [String]?
  let alg: String?
  let crv: String?
  let x: String?
  let y: String?
  let n: String?
  let e: String?

  enum CodingKeys: String, CodingKey {
    case kty, kid, use, alg, crv, x, y, n, e
    case keyOps = "key_ops"
  }

  /// RSA keys beyond 8192 bits only cost time.
  private static let modulusBytesMax = 1024

  /// The name of a key that is meant for signatures.
  var usableName: String? {
    guard let kid, !kid.isEmpty, use ?? "sig" == "sig", keyOps?.contains("verify") ?? true else { return nil }
    return kid
  }

  var verificationKey: VerificationKey? {
    get async throws {
      switch (kty, alg) {
      case ("EC", "ES256"), ("EC", nil):
        guard crv == "P-256", let x, let y, length(x) == 32, length(y) == 32 else { return nil }
        return try await VerificationKey(x: x, y: y)
      case ("RSA", "RS256"), ("RSA", nil):
        guard let n, let e, let bytes = length(n), bytes <= Self.modulusBytesMax, length(e) != nil else { return nil }
        return try await VerificationKey(modulus: n, exponent: e)
      default: return nil
      }
    }
  }

  private func length(_ text: String) -> Int? { Base64URL.decode(text.utf8)?.count }
}

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
