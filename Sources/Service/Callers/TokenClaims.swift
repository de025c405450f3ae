internal import API
internal import FoundationEssentials

/// The claims of RFC 7519 that say whose a token is and when it holds. Others are not looked at.
struct TokenClaims: Decodable, Sendable {
  let sub: String?
  let iss: String?
  /// One or several; empty when it is absent.
  let aud: [String]
  /// Unix seconds, with fractions where the issuer writes them.
  let exp: Double?
  let nbf: Double?

  private enum Key: String, CodingKey {
    case sub, iss, aud, exp, nbf
  }

  init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: Key.self)
    sub = try claims.decodeIfPresent(String.self, forKey: .sub)
    iss = try claims.decodeIfPresent(String.self, forKey: .iss)
    exp = try claims.decodeIfPresent(Double.self, forKey: .exp)
    nbf = try claims.decodeIfPresent(Double.self, forKey: .nbf)
    aud = try Self.audiences(in: claims)
  }

  /// Reads a payload whose signature is right.
  static func read(_ payload: [UInt8]) throws(ClientTokenError) -> TokenClaims {
    do {
      return try JSONDecoder().decode(TokenClaims.self, from: Data(payload))
    } catch {
      throw .invalid("its claims cannot be read")
    }
  }

  private static func audiences(in claims: KeyedDecodingContainer<Key>) throws -> [String] {
    if let one = try? claims.decodeIfPresent(String.self, forKey: .aud) { return [one] }
    return try claims.decodeIfPresent([String].self, forKey: .aud) ?? []
  }
}
