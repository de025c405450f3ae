internal import Cryptography
internal import FoundationEssentials

/// A provider token with a valid signature and issuer. Its age and permissions are not yet checked.
struct ProviderToken {
  let text: String
  let key: ProviderKey
  /// `iat`, Unix seconds.
  let issuedAtSeconds: Double
  let findings: [LintFinding]

  /// Reads and verifies a token against the registered keys.
  ///
  /// - Throws: `InvalidProviderToken` for a wrong form, algorithm, key, signature, issuer or time. Source:
  ///   "Establishing a token-based connection to APNs" (Apple); RFC 7515 §3.1.
  init(verifying text: String, keys: [String: ProviderKey]) throws(Refusal) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3,
      let header: TokenHeader = Self.document(in: parts[0]),
      let claims: TokenClaims = Self.document(in: parts[1]),
      header.alg == "ES256", let key = keys[header.kid], key.team == claims.iss
    else { throw .invalidProviderToken }
    let form = try Self.verify(parts[2], of: "\(parts[0]).\(parts[1])", with: key.publicKey)
    self.text = text
    self.key = key
    issuedAtSeconds = claims.iat.seconds
    findings = Self.findings(form, claims.iat)
  }

  /// The first 16 of the 64 hexadecimal digits of a token's SHA-256, for the push log. They distinguish the tokens of a
  /// log.
  static func hash(of text: String) -> String {
    SHA256.hash(Array(text.utf8)).hexadecimal(bytes: 8)
  }

  private static func document<Document: Decodable>(in part: Substring) -> Document? {
    guard let bytes = Base64URL.decode(part.utf8) else { return nil }
    return try? JSONDecoder().decode(Document.self, from: Data(bytes))
  }

  private enum SignatureForm {
    case raw, der
  }

  /// RFC 7518 §3.4 requires the two numbers as 64 bytes. APNs also accepts ASN.1 DER.
  private static func verify(
    _ part: Substring, of signed: String, with key: P256PublicKey
  ) throws(Refusal) -> SignatureForm {
    guard let bytes = Base64URL.decode(part.utf8) else { throw .invalidProviderToken }
    let isRaw = bytes.count == 64
    guard let signature = isRaw ? ES256Signature(raw: bytes) : ES256Signature(der: bytes),
      key.verifies(signature, of: Array(signed.utf8))
    else { throw .invalidProviderToken }
    return isRaw ? .raw : .der
  }

  private static func findings(_ form: SignatureForm, _ issuedAt: IssuedAt) -> [LintFinding] {
    var findings: [LintFinding] = []
    if form == .der { findings.append(LintFinding(.derSignature)) }
    if !issuedAt.isInteger { findings.append(LintFinding(.iatNotInteger)) }
    return findings
  }
}

private struct TokenHeader: Decodable {
  let alg: String
  let kid: String
}

private struct TokenClaims: Decodable {
  let iss: String
  let iat: IssuedAt
}

/// The `iat` claim. Some clients send it as a string, and APNs accepts that.
private struct IssuedAt: Decodable {
  let seconds: Double
  let isInteger: Bool

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int64.self) {
      (seconds, isInteger) = (Double(number), true)
    } else if let number = try? container.decode(Double.self) {
      (seconds, isInteger) = (number, false)
    } else if let number = Int64(try container.decode(String.self)) {
      (seconds, isInteger) = (Double(number), false)
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "iat is not a time")
    }
  }
}
