internal import PushRules

/// Where a click on a notification leads: a template such as `https://chat.example.com/c/{conversation_id}`.
///
/// `{name}` stands for a member of the push's own data. A push without one of the template's members leads to the root of the
/// template's site.
package struct WebPushLinks: Equatable, Sendable {
  package static let bytesMax = 512

  private enum Part: Equatable {
    case text(String)
    case member(String)
  }

  /// The scheme, the host and any port.
  package let origin: String

  private let parts: [Part]

  /// Reads the setting `WEB_PUSH_URL`: an `https` URL; `http` for `localhost` and 127.0.0.1, where browsers allow workers too.
  /// - Throws: `linkMalformed`.
  package init(template: String) throws(WebPushError) {
    guard template.utf8.count <= Self.bytesMax, let origin = Self.origin(of: template),
      let parts = Self.parts(of: template)
    else { throw WebPushError(.linkMalformed, "not an https URL with members in braces, such as {conversation_id}") }
    self.origin = origin
    self.parts = parts
  }

  func link(for data: PayloadObject) -> String {
    var link = ""
    for part in parts {
      switch part {
      case .text(let text): link += text
      case .member(let name):
        guard let value = data[name]?.linkText else { return origin + "/" }
        link += value
      }
    }
    return link
  }

  private static func origin(of template: String) -> String? {
    for scheme in ["https://", "http://localhost", "http://127.0.0.1"] where template.hasPrefix(scheme) {
      let authority = template.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
      guard let place = HostAndPort(authority), scheme == "https://" || isLocal(place.host) else { return nil }
      return (scheme == "https://" ? "https://" : "http://") + authority.lowercased()
    }
    return nil
  }

  private static func isLocal(_ host: HostName) -> Bool { ["localhost", "127.0.0.1"].contains(host.text) }

  /// Nil for an open brace, an empty name, and what no URL holds. The host has no member.
  private static func parts(of template: String) -> [Part]? {
    var parts: [Part] = []
    var rest = template[...]
    while let start = rest.firstIndex(of: "{") {
      guard let end = rest[start...].firstIndex(of: "}") else { return nil }
      let name = rest[rest.index(after: start)..<end]
      guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }) else {
        return nil
      }
      parts += [.text(String(rest[..<start])), .member(String(name))]
      rest = rest[rest.index(after: end)...]
    }
    parts.append(.text(String(rest)))
    let isClean = parts.allSatisfy { part in
      guard case .text(let text) = part else { return true }
      return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#""<>\^`|}"#.utf8.contains($0) }
    }
    return isClean ? parts : nil
  }
}

extension PayloadValue {
  /// The value as a part of a link: unreserved characters stay (RFC 3986 §2.3), all others are escaped. Nil for what is no text.
  fileprivate var linkText: String? {
    switch self {
    case .string(let text): Self.escaped(text)
    case .integer(let number): "\(number)"
    default: nil
    }
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8.prefix(512) {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return escaped
  }
}
