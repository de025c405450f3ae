/// Whom a push service may ask about the sender: the `sub` of VAPID tokens (RFC 8292 section 2.1).
package struct VAPIDSubject: Equatable, Sendable {
  /// Longer than any address (RFC 5321 section 4.5.3.1).
  private static let bytesMax = 320

  /// Domains that never name a contact. Apple answers tokens with them, and with a blank or angle brackets, with 403
  /// `BadJwtToken`. Other services accept them, so the mistake would show on Apple's browsers alone.
  private static let refusedDomains: Set<Substring> = ["localhost", "local", "invalid"]

  /// The address. Holds nothing that JSON escapes.
  package let text: String

  /// Reads the setting `VAPID_SUBJECT`: `mailto:ops@example.com`, or an `https:` URL with a named host.
  /// - Throws: `subjectMalformed`.
  package init(_ text: String) throws(WebPushError) {
    guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy(Self.isAllowed), let host = Self.host(of: text),
      Self.isPublic(host)
    else {
      throw WebPushError(
        .subjectMalformed, "not mailto: or https: with a public domain, without blanks and angle brackets")
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !#""<>\^`{|},"#.utf8.contains(byte)
  }

  private static func host(of text: String) -> HostName? {
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isOfLocalPart) else { return nil }
      return HostName(parts[1])
    }
    guard text.hasPrefix("https://") else { return nil }
    return HostAndPort(text.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" })?.host
  }

  /// What the part before the `@` has without quotes: letters, digits, and these (RFC 5322 section 3.2.3). So a scheme is none.
  private static func isOfLocalPart(_ byte: UInt8) -> Bool {
    let isAlphanumeric = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    return isAlphanumeric || "!#$%&'*+-/=?^_`{|}~.".utf8.contains(byte)
  }

  private static func isPublic(_ host: HostName) -> Bool {
    guard !host.isNumeric, let last = host.text.split(separator: ".").last, last.utf8.count < host.text.utf8.count
    else { return false }
    return !refusedDomains.contains(last)
  }
}
