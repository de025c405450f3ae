internal import Cryptography
internal import FoundationEssentials

/// The sender's identity in an Authorization field (RFC 8292 section 3), in parts.
struct VAPIDStatement: Sendable {
  /// The longest lifetime, in seconds (section 2).
  private static let lifetimeMax: Double = 24 * 3600

  /// `k`, without padding.
  let keyText: String
  let claims: Claims
  private let key: P256PublicKey
  private let signature: ES256Signature
  private let signed: [UInt8]

  struct Claims: Decodable, Sendable {
    let aud: String?
    let exp: Double?
    let sub: String?
  }

  private struct Header: Decodable {
    let alg: String?
    let typ: String?
  }

  /// Reads `vapid t=…, k=…`. Judges nothing but the form.
  init(_ field: String) throws(PushRefusal) {
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "vapid" else { throw .authorizationMalformed }
    let parameters = Self.parameters(parts[1])
    guard parameters.count == 2, let token = parameters["t"], let key = parameters["k"] else {
      throw .authorizationMalformed
    }
    guard let point = Base64URL.decode(key.utf8), let publicKey = try? P256PublicKey(x963: point) else {
      throw .keyMalformed
    }
    keyText = key
    self.key = publicKey
    let segments = token.split(separator: ".", omittingEmptySubsequences: false)
    guard segments.count == 3, let header: Header = Self.read(segments[0]), header.alg == "ES256",
      header.typ.map({ $0.uppercased() == "JWT" }) ?? true, let claims: Claims = Self.read(segments[1]),
      let signature = Base64URL.decode(segments[2].utf8).flatMap({ ES256Signature(raw: $0) })
    else { throw .tokenInvalid }
    self.claims = claims
    self.signature = signature
    signed = Array("\(segments[0]).\(segments[1])".utf8)
  }

  /// Judges signature and claims.
  /// - Parameters:
  ///   - origin: of the endpoint.
  ///   - now: Unix seconds.
  func check(_ face: PushServiceFace, origin: String, now: Double) throws(PushRefusal) {
    guard key.verifies(signature, of: signed), claims.aud == origin, let expiration = claims.exp,
      expiration > now, expiration <= now + Self.lifetimeMax, Self.accepts(claims.sub, face)
    else { throw .tokenInvalid }
  }

  private static func parameters(_ text: Substring) -> [String: String] {
    var parameters: [String: String] = [:]
    for part in text.split(separator: ",") {
      let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, parameters[String(pair[0])] == nil else { return [:] }
      parameters[String(pair[0])] = String(pair[1].prefix { $0 != " " })
    }
    return parameters
  }

  private static func read<Value: Decodable>(_ segment: Substring) -> Value? {
    Base64URL.decode(segment.utf8).flatMap { try? JSONDecoder().decode(Value.self, from: Data($0)) }
  }

  /// Apple refuses contacts that cannot be real.
  private static func accepts(_ subject: String?, _ face: PushServiceFace) -> Bool {
    guard face.judgesSubject else { return subject.map { $0.hasPrefix("mailto:") || $0.hasPrefix("https:") } ?? true }
    guard let subject, !subject.contains(where: { "<> ".contains($0) }) else { return false }
    guard subject.hasPrefix("mailto:") ? subject.contains("@") : subject.hasPrefix("https://") else { return false }
    let domain = subject.drop { $0 != "@" && $0 != "/" }.drop { "@/".contains($0) }.prefix { $0 != "/" && $0 != ":" }
    return domain.contains(".") && !domain.hasSuffix(".local") && !domain.hasSuffix(".invalid")
      && !domain.hasSuffix(".localhost")
  }
}
