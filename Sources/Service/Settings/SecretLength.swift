/// The least length of a secret.
enum SecretLength {
  /// 24 bytes, 192 bits when they are random. Standard Webhooks asks for as many ("Signature scheme"), and a right secret is
  /// never turned away, so its length alone keeps it from being guessed.
  static let bytesMin = 24

  /// - Parameter count: bytes of the secret; those that `whsec_<base64>` decodes to.
  static func check(_ count: Int) throws(UnusableValue) {
    guard count >= bytesMin else {
      throw UnusableValue("too short", expected: "at least \(bytesMin) bytes, such as those of openssl rand -hex 24")
    }
  }
}
