internal import FoundationEssentials
package import PushRules

/// The values of tokens and conditions by name, from the host's material or a fetched document. The document is foreign
/// and may be hostile.
///
/// Strings, numbers and booleans count. Each becomes one line without control characters. Null, blank and nested members
/// are absent.
package struct SlotValues: Equatable, Sendable {
  package static let documentBytesMax = 65_536
  /// The most Unicode scalars of one value: enough for a body of 200 emoji with joiners and skin tones.
  package static let valueScalarsMax = 2_400

  /// Visible lines by name.
  let lines: [String: String]

  package var locale: LocaleTag? { lines["locale"].flatMap { LocaleTag($0) } }

  package init() {
    lines = [:]
  }

  /// Reads an object.
  /// - Parameter json: the material, or the fetched document.
  /// - Returns: nil for more than ``documentBytesMax`` bytes, and for text that is not a JSON object.
  package init?(json: String) {
    guard json.utf8.count <= Self.documentBytesMax,
      let values = try? JSONDecoder().decode(SlotValues.self, from: Data(json.utf8))
    else { return nil }
    self = values
  }

  init(lines: [String: String]) {
    self.lines = lines
  }

  /// These values with others over them, such as the material with the fetched document over it.
  package func overlaid(with others: SlotValues) -> SlotValues {
    SlotValues(lines: lines.merging(others.lines) { $1 })
  }

  /// A value on one line; nil without a visible character.
  static func line(_ text: String) -> String? {
    let line = DataLine(text, scalarsMax: valueScalarsMax, isFenced: false).text
    return line.isEmpty ? nil : line
  }
}

extension SlotValues: Decodable {
  package init(from decoder: any Decoder) throws {
    let members = try decoder.singleValueContainer().decode([String: Scalar].self)
    self.init(lines: members.compactMapValues { $0.text.flatMap(Self.line) })
  }
}

/// A member's value as text. Strings are tried first, because most values are strings and a failed try is slow.
private struct Scalar: Decodable {
  /// Nil for null, an array, an object, and a number beyond `Double`.
  let text: String?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else if let flag = try? container.decode(Bool.self) {
      text = flag ? "true" : "false"
    } else if let number = try? container.decode(Int.self) {
      text = String(number)
    } else {
      text = (try? container.decode(Double.self)).map { String($0) }
    }
  }
}
