internal import FoundationEssentials

/// A secret that a database webhook proves itself with, as a bearer token or as the key of its signature.
public struct WebhookSecret: Equatable, Sendable {
  /// What follows `Authorization: Bearer`: the secret as it was given.
  public let bearer: Secret<String>
  /// The key of the HMAC of a Standard Webhooks signature: the decoded part of `whsec_<base64>`, else the bytes of the
  /// text.
  public let signingKey: Secret<[UInt8]>

  /// Reads a list separated by white space, which no bearer token can hold; several are valid while one replaces
  /// another.
  static func list(parsing text: String) throws(UnusableValue) -> [WebhookSecret] {
    var secrets: [WebhookSecret] = []
    for part in text.split(whereSeparator: \.isWhitespace) { secrets.append(try WebhookSecret(parsing: String(part))) }
    return secrets
  }

  private init(parsing text: String) throws(UnusableValue) {
    bearer = Secret(try BearerText.checked(text))
    guard text.hasPrefix("whsec_") else {
      try SecretLength.check(text.utf8.count)
      signingKey = Secret(Array(text.utf8))
      return
    }
    guard let key = Data(base64Encoded: String(text.dropFirst(6))), !key.isEmpty else {
      throw UnusableValue("no base64 after whsec_", expected: "whsec_ and the key in padded base64, or a plain secret")
    }
    try SecretLength.check(key.count)
    signingKey = Secret(Array(key))
  }
}
