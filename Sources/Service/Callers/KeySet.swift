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

  /// A key, or something else that stands in its place.
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
