internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

/// The answer of the token endpoint.
enum ExchangeAnswer: Equatable {
  case token(email: String, scopes: Set<String>)
  /// Success without an access token: none of the scopes is known.
  case identity
  /// OAuth's error and its description.
  case refusal(String, String)
}

/// Judges a request for an access token as Google does.
///
/// Source: RFC 7523; the texts are those that clients report.
struct AssertionJudge {
  /// The scopes that allow to send.
  static let scopes: Set<String> = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]

  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// The longest life of an assertion, and how far its issue may be ahead, in seconds.
  private static let (lifetimeMax, aheadMax): (Int64, Int64) = (3600, 300)

  private static let untimely = """
    Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. \
    Check your iat and exp values in the JWT claim.
    """

  let accounts: [String: SimulatedAccount]
  let audiences: Set<String>
  /// Unix seconds.
  let now: Int64

  func judge(_ form: [String: String]) -> ExchangeAnswer {
    guard form["grant_type"] == Self.grantType else {
      return .refusal("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
    }
    let parts = (form["assertion"] ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.document(parts[0]), let claims = Self.document(parts[1]) else {
      return .refusal("invalid_request", "Bad Request")
    }
    guard let account = accounts[claims["iss"]?.text ?? ""] else {
      return .refusal("invalid_grant", "Invalid grant: account not found")
    }
    guard header["alg"]?.text == "RS256", header["kid"]?.text == account.keyIdentifier,
      let signature = Base64URL.decode(parts[2].utf8),
      account.key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    else { return .refusal("invalid_grant", "Invalid JWT Signature.") }
    return judge(claims, of: account)
  }

  private func judge(_ claims: JSONValue, of account: SimulatedAccount) -> ExchangeAnswer {
    guard audiences.contains(claims["aud"]?.text ?? "") else {
      return .refusal("invalid_grant", "Invalid JWT: Failed audience check.")
    }
    guard isTimely(claims) else { return .refusal("invalid_grant", Self.untimely) }
    let scopes = Set((claims["scope"]?.text ?? "").split(separator: " ").map(String.init))
    guard !scopes.isEmpty else { return .refusal("invalid_scope", "Empty or missing scope not allowed.") }
    let known = scopes.intersection(Self.scopes)
    return known.isEmpty ? .identity : .token(email: account.email, scopes: known)
  }

  private func isTimely(_ claims: JSONValue) -> Bool {
    // Far beyond every date, and small enough for every difference.
    let moments: Range<Int64> = 0..<1 << 40
    guard case .integer(let issued) = claims["iat"], case .integer(let end) = claims["exp"],
      moments.contains(issued), moments.contains(end)
    else { return false }
    return (1...Self.lifetimeMax).contains(end - issued) && issued <= now + Self.aheadMax && end > now
  }

  private static func document(_ part: Substring) -> JSONValue? {
    guard let bytes = Base64URL.decode(part.utf8), let document = JSONValue(bytes), case .object = document else {
      return nil
    }
    return document
  }
}

extension ExchangeAnswer {
  /// The fields of Google's answers.
  private struct Content: Encodable {
    var accessToken: String?
    var expiresIn: Int?
    var tokenType: String?
    var idToken: String?
    var error: String?
    var errorDescription: String?
  }

  func response(token: String = "", expiresIn: Int = 0) throws -> HTTPServerResponse {
    let content =
      switch self {
      case .token: Content(accessToken: token, expiresIn: expiresIn, tokenType: "Bearer")
      case .identity: Content(idToken: "eyJhbGciOiJSUzI1NiJ9.e30.c2ln")
      case .refusal(let error, let text): Content(error: error, errorDescription: text)
      }
    let status: HTTPResponse.Status = content.error == nil ? .ok : .badRequest
    return HTTPServerResponse(status: status, json: try sortedJSON(content, keys: .convertToSnakeCase))
  }
}
