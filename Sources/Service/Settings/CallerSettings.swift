internal import FoundationEssentials

/// How apps and other servers prove who they are. Endpoints whose proof is not set up are off.
public struct CallerSettings: Equatable, Sendable {
  /// The bearer keys of other servers, any of which is enough; none turns the service endpoints off. Several are valid while
  /// one replaces another.
  public let serviceKeys: [Secret<String>]
  /// The HS256 secret of clients' tokens.
  public let jwtSecret: Secret<String>?
  /// Where the key set for clients' tokens is, over `https` or `http`; secret, as it may hold a password.
  public let keySetURL: Secret<String>?
  /// The authorities trusted instead of the system's where the key set is, as PEM text; nil for the system's.
  public let keySetCertificates: String?
  /// Whom clients' tokens are for: they have to name one of these, at least one.
  public let audiences: [String]
  /// Who has to have issued clients' tokens; nil for anybody who has the key.
  public let issuer: String?

  /// Whether clients can prove who they are; otherwise the client endpoints are off.
  public var acceptsClients: Bool { jwtSecret != nil || keySetURL != nil }

  init(_ reader: inout SettingsReader) {
    serviceKeys = (reader.optional(.serviceKey, BearerText.secrets) ?? []).map(Secret.init)
    jwtSecret = reader.optional(.jwtSecret, Self.jwtSecret).map(Secret.init)
    keySetURL = reader.optional(.jwksURL, Self.keySetURL).map(Secret.init)
    keySetCertificates = reader.certificates(.jwksCAFile)
    audiences = reader.optional(.jwtAudience, Self.audiences) ?? ["authenticated"]
    issuer = reader.text(.jwtIssuer)
  }

  /// RFC 7518 §3.2: a key for HS256 has at least the 32 bytes of its hash. A shorter one can be guessed from any
  /// client's token.
  private static func jwtSecret(_ text: String) throws(UnusableValue) -> String {
    guard text.utf8.count >= 32 else {
      throw UnusableValue("too short", expected: "at least 32 bytes, as HS256 demands")
    }
    return text
  }

  private static func audiences(_ text: String) throws(UnusableValue) -> [String] {
    let audiences = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
    guard !audiences.contains("") else {
      throw UnusableValue("an audience is empty", expected: "audiences separated by commas")
    }
    return audiences
  }

  private static func keySetURL(_ text: String) throws(UnusableValue) -> String {
    let parts = URLComponents(string: text, encodingInvalidCharacters: false)
    guard let parts, let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
      parts.host?.isEmpty == false
    else {
      throw UnusableValue("not a web address", expected: "https://host/path of a JSON Web Key Set")
    }
    return text
  }
}
