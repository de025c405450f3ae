import Foundation
import Testing

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

  init(stringLiteral text: String) { self.init(text) }

  init(_ text: String) {
    let digits = text.compactMap(\.hexDigitValue)
    precondition(digits.count == text.count && digits.count % 2 == 0, "not hexadecimal: \(text)")
    bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}

/// A case of a file: its members by name, as the bytes that their digits stand for.
@dynamicMemberLookup
struct VectorCase: Decodable {
  private let members: [String: String]

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    members = try Dictionary(
      uniqueKeysWithValues: container.allKeys.map { name in
        (
          name.stringValue,
          try (try? container.decode(Int.self, forKey: name)).map(String.init)
            ?? container.decode(String.self, forKey: name)
        )
      })
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  subscript(dynamicMember name: String) -> [UInt8] { Hex(text(name)).bytes }

  func text(_ name: String) -> String { members[name] ?? "" }

  var result: Verdict { Verdict(rawValue: text("result")) ?? .acceptable }

  /// Names it in a failure.
  var label: Comment { "\(text("number")): \(text("note"))" }
}

struct VectorGroup: Decodable {
  let point: Hex?
  let modulus: Hex?
  let exponent: Hex?
  let cases: [VectorCase]
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

/// The signatures of RFC 7515 appendix A.
struct JWSExamples: Decodable {
  struct RS256: Decodable {
    let signed: String
    let signature: String
    let n: String
    let e: String
  }

  struct ES256: Decodable {
    let signed: String
    let signature: String
    let x: String
    let y: String
    let d: String
  }

  let RS256: RS256
  let ES256: ES256

  static func read() throws -> JWSExamples { try VectorFile.read("rfc7515-signatures") }
}

/// Changes to the bytes inside PEM texts.
enum PEMText {
  /// The text of one PEM block with one sequence of its bytes replaced by another of the same length.
  static func replacing(_ bytes: [UInt8], with others: [UInt8], in pem: String) throws -> String {
    let lines = pem.split(separator: "\n")
    var data = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
    if !bytes.isEmpty {
      let range = try #require(data.range(of: Data(bytes)))
      data.replaceSubrange(range, with: others)
    }
    return "\(lines[0])\n\(data.base64EncodedString(options: .lineLength64Characters))\n\(lines[lines.count - 1])\n"
  }
}
