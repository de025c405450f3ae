internal import APNSCore
internal import Crypto

/// What makes an APNs credential usable, before APNs is ever asked.
enum APNSCredentials {
  /// A key or team identifier: Apple gives ten capital letters and digits.
  static func identifier(_ text: String) throws(UnusableValue) -> String {
    let isIdentifier = text.utf8.allSatisfy { byte in
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard isIdentifier, text.utf8.count == 10 else {
      throw UnusableValue("not an identifier from Apple", expected: "ten capital letters and digits")
    }
    return text
  }

  static func bundleIdentifier(_ text: String) throws(UnusableValue) -> BundleIdentifier {
    do {
      return try BundleIdentifier(text)
    } catch {
      throw UnusableValue(error.message, expected: "an identifier such as com.example.app")
    }
  }

  /// The signing key from whichever of its two settings is there; nil only when a problem was noted.
  static func privateKey(_ reader: inout SettingsReader) -> String? {
    switch (reader.text(.apnsPrivateKey), reader.text(.apnsPrivateKeyFile)) {
    case (nil, nil):
      noteMissingPrivateKey(&reader)
      return nil
    case (_?, _?):
      reader.note(.conflicting, .apnsPrivateKey, "and APNS_PRIVATE_KEY_FILE are both set; keep one")
      return nil
    case (_?, nil):
      return reader.optional(.apnsPrivateKey, privateKeyText)
    case (nil, _?):
      return privateKeyFile(&reader)
    }
  }

  static func noteMissingPrivateKey(_ reader: inout SettingsReader) {
    reader.note(.missing, .apnsPrivateKey, "or APNS_PRIVATE_KEY_FILE is required and neither is set")
  }

  private static func privateKeyFile(_ reader: inout SettingsReader) -> String? {
    guard let text = reader.file(.apnsPrivateKeyFile) else { return nil }
    do {
      return try privateKeyText(text)
    } catch {
      reader.note(.unusable, .apnsPrivateKeyFile, "names a file that is \(error.fault); expected \(error.expectation)")
      return nil
    }
  }

  /// The text of a `.p8` file. In a setting of one line, `\n` stands for the end of a line, as many tools write it.
  /// - Returns: the key in one form, however it was written: white space is no new key.
  private static func privateKeyText(_ text: String) throws(UnusableValue) -> String {
    let pem = text.split(separator: #"\n"#, omittingEmptySubsequences: false).joined(separator: "\n")
    guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
      throw UnusableValue(
        "not a P-256 private key", expected: "the text of the .p8 file from Apple, BEGIN and END lines included")
    }
    return key.pemRepresentation
  }
}
