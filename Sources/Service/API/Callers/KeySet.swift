internal import Cryptography
internal import FoundationEssentials

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
  init(_ document: [UInt8]) throws {
    let document = try JSONDecoder().decode(Document.self, from: Data(document))
    for key in document.keys where keys.count < Self.keysMax {
      guard let key = key.key, let kid = key.usableName, let usable = key.verificationKey else { continue }
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

  /// The name of a key that is meant for signatures.
  var usableName: String? {
    guard let kid, !kid.isEmpty, use ?? "sig" == "sig", keyOps?.contains("verify") ?? true else { return nil }
    return kid
  }

  /// The key with its one algorithm; nil for one that is malformed, weak, or of another kind.
  var verificationKey: VerificationKey? {
    switch (kty, alg) {
    case ("EC", "ES256"), ("EC", nil):
      guard crv == "P-256", let x = bytes(x), let y = bytes(y) else { return nil }
      return (try? P256PublicKey(x: x, y: y)).map(VerificationKey.es256)
    case ("RSA", "RS256"), ("RSA", nil):
      guard let n = bytes(n), let e = bytes(e) else { return nil }
      return (try? RSAPublicKey(modulus: n, exponent: e)).map(VerificationKey.rs256)
    default: return nil
    }
  }

  private func bytes(_ text: String?) -> [UInt8]? { text.flatMap { Base64URL.decode($0.utf8) } }
}

/// A key bound to the one algorithm it is used with, so that no token can choose another for it (RFC 8725 section 3.1).
enum VerificationKey: Sendable {
  /// The shared secret of HS256, at least 32 bytes.
  case hs256(HMACSHA256)
  case es256(P256PublicKey)
  /// A public RSA key of 2048 to 8192 bits.
  case rs256(RSAPublicKey)

  /// The algorithms whose tokens are looked at.
  enum Algorithm: String, Sendable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
  }

  var algorithm: Algorithm {
    switch self {
    case .hs256: .hs256
    case .es256: .es256
    case .rs256: .rs256
    }
  }

  /// Whether the token is signed with this key. A signature of the wrong form or length is wrong (RFC 7518 section 3).
  func hasSigned(_ token: CompactToken) -> Bool {
    switch self {
    case .hs256(let key): key.isValid(token.signature, for: token.signed)
    case .es256(let key): ES256Signature(raw: token.signature).map { key.verifies($0, of: token.signed) } ?? false
    case .rs256(let key): key.verifies(token.signature, of: token.signed)
    }
  }
}
