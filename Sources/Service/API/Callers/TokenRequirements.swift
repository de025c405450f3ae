internal import FoundationEssentials

/// What the claims of a token must say, whichever key signed it.
package struct TokenRequirements: Sendable {
  /// How far clocks may be apart, in seconds: a token is valid so long after its end and before its beginning.
  static let leewaySeconds = 60.0

  /// The audiences of which a token must name one.
  package let audiences: Set<String>

  /// Who must have issued it; nil accepts every issuer whose key is known.
  package let issuer: String?

  /// The one text that all subjects for the same user have; nil for a subject that is no user.
  private let user: @Sendable (_ subject: String) -> String?

  /// - Parameters:
  ///   - audiences: at least one.
  ///   - user: the one text that all subjects for the same user have; nil for a subject that is no user.
  package init(
    audiences: some Collection<String>, issuer: String? = nil, user: @escaping @Sendable (_ subject: String) -> String?
  ) {
    precondition(!audiences.isEmpty, "nobody is the audience")
    self.audiences = Set(audiences)
    self.issuer = issuer
    self.user = user
  }

  /// Whose token it is, and until when it is to be believed.
  /// - Parameter now: Unix seconds.
  func judge(_ claims: TokenClaims, now: Double) throws(ClientTokenError) -> VerifiedToken {
    guard let end = claims.exp else { throw .invalid("it has no end") }
    // RFC 7519 section 4.1.4: not on its end or after it. Section 4.1.5: on its beginning or after it.
    let expiresAt = end + Self.leewaySeconds
    guard now < expiresAt else { throw .invalid("it has expired") }
    guard claims.nbf.map({ now >= $0 - Self.leewaySeconds }) ?? true else { throw .invalid("it is not valid yet") }
    guard !audiences.isDisjoint(with: claims.aud) else { throw .invalid("it is for another audience") }
    guard issuer == nil || claims.iss == issuer else { throw .invalid("somebody else issued it") }
    guard let user = claims.sub.flatMap(user) else { throw .invalid("its subject is not the id of a user") }
    return VerifiedToken(user: user, expiresAt: expiresAt)
  }
}

struct VerifiedToken: Sendable, Equatable {
  let user: String
  /// Unix seconds, exclusive, the leeway included.
  let expiresAt: Double
}

extension ClientTokenError {
  static func invalid(_ detail: String) -> ClientTokenError { ClientTokenError(.invalid, detail) }
}

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
