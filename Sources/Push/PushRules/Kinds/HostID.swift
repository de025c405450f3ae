internal import Cryptography
package import FoundationEssentials

/// An id that the host has given: of a message, a conversation, a user, or a row that is watched.
///
/// Hosts have uuids, integers or text. Every id has one text, the one that PostgreSQL prints, and ids are equal when their
/// texts are. A uuid is kept as its sixteen bytes.
package struct HostID: Hashable, Sendable {
  /// The longest text, in bytes. A longer id of a host cannot be read.
  package static let bytesMax = 255

  private enum Form: Hashable {
    case uuid(UUID)
    /// Any text that is no uuid as PostgreSQL prints it.
    case text(String)
  }

  private let form: Form

  package init(_ uuid: UUID) { form = .uuid(uuid) }

  /// The id with this text, whatever its type.
  package init(text: String) {
    form = UUID(canonical: text).map(Form.uuid) ?? .text(text)
  }

  package var uuid: UUID? {
    if case .uuid(let uuid) = form { uuid } else { nil }
  }

  /// The form that PostgreSQL prints: for a uuid 36 characters in lower case.
  package var text: String {
    switch form {
    case .uuid(let uuid): uuid.lowercased
    case .text(let text): text
    }
  }

  /// Calls `body` with the sixteen bytes of a uuid, or with the text's.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch form {
    case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid, body)
    case .text(var text): return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
  }
}

extension HostID {
  /// Eight digits that stand for the id in the ledger's histories: the beginning of the SHA-256 of its text, in hexadecimal.
  package var shortMark: String { SHA256.hash(Array(text.utf8)).hexadecimal(bytes: 4) }
}

extension HostID: CustomStringConvertible {
  package var description: String { text }
}

extension HostID: Decodable {
  /// Reads a string of JSON, or a whole number as databases and webhooks write integers.
  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self.init(text: text)
    } else {
      self.init(text: String(try value.decode(Int64.self)))
    }
  }
}

extension UUID {
  /// The form that PostgreSQL prints and APNs documents.
  package var lowercased: String {
    withUnsafeBytes(of: uuid) { bytes in
      HexadecimalDigits.uuid(
        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  /// Reads ``lowercased``, and no other form.
  fileprivate init?(canonical text: String) {
    guard text.utf8.count == 36, let uuid = UUID(uuidString: text), uuid.lowercased == text else { return nil }
    self = uuid
  }

  /// The text form of RFC 9562, in either case, and nothing else: `init(uuidString:)` also takes texts with other characters
  /// behind.
  package init?(hyphenated text: String) {
    self.init(canonical: text.lowercased())
  }
}
