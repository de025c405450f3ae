import Foundation

/// A JSON file of the folder `Resources`.
enum VectorFile {
  static func read<Content: Decodable>(_ name: String, as type: Content.Type = Content.self) throws -> Content {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let file = folder.appending(path: "Resources/\(name).json")
    return try JSONDecoder().decode(type, from: Data(contentsOf: file))
  }
}

/// Bytes that a file writes as hexadecimal digits.
struct Hex: Decodable, ExpressibleByStringLiteral {
  let bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  init(stringLiteral text: String) {
    self.init(text)
  }

  init(_ text: String) {
    let digits = text.compactMap(\.hexDigitValue)
    precondition(digits.count == text.count && digits.count % 2 == 0, "not hexadecimal: \(text)")
    bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}

/// What Project Wycheproof says of a case.
enum Verdict: String, Decodable {
  case valid
  case invalid
  /// Implementations may accept or refuse it.
  case acceptable
}

/// The text of the bytes, for literals in tests.
func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Decodes base64url that a test knows to be right.
func base64URL(_ text: String) -> [UInt8] {
  let padded = text.replacing("-", with: "+").replacing("_", with: "/")
  let data = Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4))
  guard let data else { preconditionFailure("not base64url: \(text)") }
  return Array(data)
}
