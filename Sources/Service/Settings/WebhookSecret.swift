internal import FoundationEssentials

/// A secret that a database webhook proves itself with, as a bearer token or as the key of its signature.
package struct WebhookSecret: Equatable, Sendable {
  /// What follows `Authorization: Bearer`: the secret as it was given.
  package let bearer: Secret<String>
  /// The key of the HMAC of a Standard Webhooks signature: the decoded part of `whsec_<base64>`, or the bytes of the text.
  package let signingKey: Secret<[UInt8]>

  fileprivate init(parsing text: String) throws(UnusableValue) {
    bearer = Secret(try BearerSecret.checked(text))
    guard text.hasPrefix("whsec_") else {
      try BearerSecret.checkLength(text.utf8.count)
      signingKey = Secret(Array(text.utf8))
      return
    }
    guard let key = Data(base64Encoded: String(text.dropFirst(6))), !key.isEmpty else {
      throw UnusableValue("no base64 after whsec_", expected: "whsec_ and the key in padded base64, or a plain secret")
    }
    try BearerSecret.checkLength(key.count)
    signingKey = Secret(Array(key))
  }
}

extension SettingParser<[WebhookSecret]> {
  /// Separated by white space, which no bearer token can hold; several are valid while one replaces another.
  static var webhookSecrets: Self {
    Self { text throws(UnusableValue) in
      var secrets: [WebhookSecret] = []
      for part in text.split(whereSeparator: \.isWhitespace) {
        secrets.append(try WebhookSecret(parsing: String(part)))
      }
      return secrets
    }
  }
}

/// What a bearer token must be to be sent, and not to be guessed.
enum BearerSecret {
  /// 24 bytes, 192 bits when they are random. Standard Webhooks asks for as many ("Signature scheme"), and a right secret is
  /// never turned away, so its length alone keeps it from being guessed.
  private static let bytesMin = 24

  /// The text itself, if a header field carries it unharmed and in one piece.
  static func checked(_ text: String) throws(UnusableValue) -> String {
    guard text.isVisibleASCII else {
      throw UnusableValue(
        "holds a space, a control character or a letter beyond ASCII", expected: "printable ASCII without spaces")
    }
    return text
  }

  /// - Parameter count: bytes of the secret; those that `whsec_<base64>` decodes to.
  static func checkLength(_ count: Int) throws(UnusableValue) {
    guard count >= bytesMin else {
      throw UnusableValue("too short", expected: "at least \(bytesMin) bytes, such as those of openssl rand -hex 24")
    }
  }
}

extension String {
  var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
