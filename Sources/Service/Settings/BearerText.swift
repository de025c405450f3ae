/// Text that can be a bearer token.
enum BearerText {
  /// The text itself, if a header field carries it unharmed and in one piece.
  static func checked(_ text: String) throws(UnusableValue) -> String {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UnusableValue(
        "holds a space, a control character or a letter beyond ASCII", expected: "printable ASCII without spaces")
    }
    return text
  }

  /// Secrets separated by white space, which no bearer token can hold.
  static func secrets(_ text: String) throws(UnusableValue) -> [String] {
    var secrets: [String] = []
    for part in text.split(whereSeparator: \.isWhitespace) {
      secrets.append(try checked(String(part)))
      try SecretLength.check(part.utf8.count)
    }
    return secrets
  }
}
