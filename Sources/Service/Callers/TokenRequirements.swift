internal import API
internal import FoundationEssentials

/// What a token's claims must say, whoever signed it.
public struct TokenRequirements: Sendable {
  /// How far clocks may be apart, in seconds: a token is valid so long after its end and before its beginning.
  static let leewaySeconds = 60.0

  /// The audiences of which a token must name one.
  public let audiences: Set<String>

  /// Who must have issued it; nil takes anybody who has the key.
  public let issuer: String?

  /// - Parameter audiences: at least one.
  public init(audiences: some Collection<String>, issuer: String? = nil) {
    precondition(!audiences.isEmpty, "nobody is the audience")
    self.audiences = Set(audiences)
    self.issuer = issuer
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
    guard let user = claims.sub.flatMap(UUID.init(hyphenated:)) else { throw .invalid("its subject is no UUID") }
    return VerifiedToken(user: user, expiresAt: expiresAt)
  }
}

/// What has been found out of a token.
struct VerifiedToken: Sendable, Equatable {
  let user: UUID
  /// Unix seconds, exclusive, the leeway included.
  let expiresAt: Double
}

extension ClientTokenError {
  static func invalid(_ detail: String) -> ClientTokenError { ClientTokenError(.invalid, detail) }
}
