internal import FoundationEssentials

/// A signed token in the compact form of RFC 7515 section 7.1, taken apart: nothing in it is believed yet.
struct CompactToken {
  let header: TokenHeader
  let payload: [UInt8]
  let signature: [UInt8]
  /// What the signature is over: the first two parts as they came.
  let signed: [UInt8]

  /// Takes a token apart, and reads its header.
  init(_ text: String) throws(ClientTokenError) {
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .invalid("it has not three parts") }
    guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .invalid("it is not base64url") }
    self.header = try TokenHeader.read(header)
    self.payload = payload
    self.signature = signature
    signed = Array(bytes[..<parts[1].endIndex])
  }
}

/// The header of RFC 7515 section 4, as far as it is obeyed. Keys that a token brings along, or names the place of, are not
/// looked at.
struct TokenHeader: Decodable, Equatable {
  /// Names the algorithm.
  let alg: String
  /// Names the key.
  let kid: String?
  /// Whether there are extensions that must be understood.
  let hasCritical: Bool

  private enum Key: String, CodingKey {
    case alg, kid, crit
  }

  init(from decoder: any Decoder) throws {
    let header = try decoder.container(keyedBy: Key.self)
    alg = try header.decode(String.self, forKey: .alg)
    kid = try header.decodeIfPresent(String.self, forKey: .kid)
    hasCritical = header.contains(.crit)
  }

  static func read(_ bytes: [UInt8]) throws(ClientTokenError) -> TokenHeader {
    do {
      return try JSONDecoder().decode(TokenHeader.self, from: Data(bytes))
    } catch {
      throw .invalid("its header cannot be read")
    }
  }
}

/// Base64 for URLs (RFC 4648 section 5) as RFC 7515 section 2 wants it: without padding, white space or other letters, and in
/// the one spelling that each content has.
enum Base64URL {
  static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    let text = Array(text)
    var standard = text.map(standardLetter)
    standard += [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
    // Encoded anew it is the same, or it had letters, padding or bits that do not belong there.
    guard let data = Data(base64Encoded: Data(standard)), encode(Array(data)) == text else { return nil }
    return Array(data)
  }

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Data(bytes).base64EncodedData().filter { $0 != UInt8(ascii: "=") }.map(urlLetter)
  }

  private static func standardLetter(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: letter
    }
  }

  private static func urlLetter(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: letter
    }
  }
}
