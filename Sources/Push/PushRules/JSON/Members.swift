// How the members of a JSON object are read, also of objects whose members a table names.

/// The name of a member of a document.
package struct MemberName: CodingKey, ExpressibleByStringLiteral {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(stringValue: String) { self.stringValue = stringValue }
  package init(stringLiteral name: String) { stringValue = name }
  package init?(intValue: Int) { nil }
}

package typealias Members = KeyedDecodingContainer<MemberName>

extension KeyedDecodingContainer {
  /// A text that must look a certain way; nil when it is absent or null.
  package func decodeText(_ key: Key, _ demand: String, _ isGood: (String) -> Bool) throws -> String? {
    guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
    try require(isGood(text), key, demand)
    return text
  }

  package func require(_ isMet: Bool, _ key: Key, _ demand: String) throws {
    guard !isMet else { return }
    throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: demand)
  }
}

extension Members {
  /// A public key of X25519 for which content can be sealed.
  package func decodeSealingKey() throws -> String? {
    try decodeText("sealing_key", "must be the 32 bytes of an X25519 public key in base64url") {
      SealingKey(text: $0)?.isUsable == true
    }
  }

  /// What is wrong with a value deep inside the object.
  package func fault(at path: [MemberName], _ demand: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath + path, debugDescription: demand))
  }
}

// What a service answered, or an operator's file. Members of a wrong type count as missing, so that a strange answer never hides
// the words that are there.
extension PayloadObject {
  /// Nil for anything but a JSON object.
  package init?(reading body: some Collection<UInt8>) {
    guard case .object(let object)? = try? PayloadValue(json: Array(body), limits: .hostRow) else { return nil }
    self = object
  }

  package func text(_ name: String) -> String? { self[name]?.text }

  package func integer(_ name: String) -> Int64? {
    switch self[name] {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number.value)
    default: nil
    }
  }

  package func number(_ name: String) -> Double? { self[name]?.number }

  package func object(_ name: String) -> PayloadObject? { self[name]?.object }

  package func objects(_ name: String) -> [PayloadObject] { self[name]?.elements?.compactMap(\.object) ?? [] }

  package func texts(_ name: String) -> [String]? { self[name]?.elements?.compactMap(\.text) }
}

extension PayloadValue {
  package var text: String? { if case .string(let text) = self { text } else { nil } }

  package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }

  package var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number.value
    default: nil
    }
  }

  package var object: PayloadObject? { if case .object(let object) = self { object } else { nil } }

  package var elements: [PayloadValue]? { if case .array(let values) = self { values } else { nil } }
}

extension String {
  /// Whether it can be written in paths, header fields and logs, and is not empty.
  package func isVisibleASCII(upTo bytesMax: Int) -> Bool {
    (1...bytesMax).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
