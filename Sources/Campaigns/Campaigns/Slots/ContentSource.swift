internal import PushRules

/// A campaign's content URL: `https://host/path`, in which `{user_id}` may be a part of the path or the query.
struct ContentSource: Equatable {
  private static let token = "{user_id}"

  /// As the definition has it.
  let url: String

  /// Nil for a URL that cannot be fetched: without a host, with a password, or with a user in the place of the host, who would
  /// choose where the credential goes.
  init?(_ url: String) {
    guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let scheme = url.firstRange(of: "://"),
      ["https", "http"].contains(url[..<scheme.lowerBound].lowercased())
    else { return nil }
    let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
    guard !authority.isEmpty, !authority.contains(where: { "{}@%\\".contains($0) }) else { return nil }
    self.url = url
  }

  var isPerUser: Bool { Self.isPerUser(url) }

  static func isPerUser(_ url: String) -> Bool { url.contains(token) }

  /// What to fetch.
  /// - Returns: nil for an id that would be a step in the path.
  func url(for userID: HostID?) -> String? {
    guard let userID else { return url }
    guard ![".", ".."].contains(userID.text) else { return nil }
    return url.replacing(Self.token, with: userID.text.percentEncoded)
  }
}

extension String {
  /// With every byte escaped that is not unreserved (RFC 3986 section 2.3).
  fileprivate var percentEncoded: String {
    var encoded = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += byte < 16 ? "%0" : "%"
        encoded += String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
