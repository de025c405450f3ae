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

/// In the order of the bytes of their texts, which is that of two UUIDs too.
extension HostID: Comparable {
  package static func < (one: Self, other: Self) -> Bool {
    if case (.uuid(let one), .uuid(let other)) = (one.form, other.form) {
      return withUnsafeBytes(of: one.uuid) { one in
        withUnsafeBytes(of: other.uuid) { one.lexicographicallyPrecedes($0) }
      }
    }
    return one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }
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

/// The types of a host's ids, chosen when its database is migrated.
package struct IDTypes: Equatable, Sendable {
  /// A type of ids, as PostgreSQL calls it.
  package enum IDType: String, CaseIterable, Sendable {
    case uuid, bigint, text
  }

  package var messages: IDType
  /// What conversations and other surfaces are called by.
  package var conversations: IDType
  package var users: IDType

  /// What an event is about: a message, a row of any other table of the host, or a row of Tacet's own, which has a uuid.
  package var subjects: IDType {
    [messages, conversations, users].allSatisfy { $0 == .uuid } ? .uuid : .text
  }

  package init(messages: IDType = .uuid, conversations: IDType = .uuid, users: IDType = .uuid) {
    self.messages = messages
    self.conversations = conversations
    self.users = users
  }

  package init(all type: IDType) { self.init(messages: type, conversations: type, users: type) }
}

extension IDTypes.IDType {
  /// Reads an id as clients write it: a uuid in either case, an integer as PostgreSQL prints it, or text of 1 to 255 bytes
  /// without control characters. Nil for what this type cannot hold.
  package func id(_ text: String) -> HostID? {
    switch self {
    case .uuid: return UUID(hyphenated: text).map { HostID($0) }
    case .bigint:
      guard let number = Int64(text), String(number) == text else { return nil }
      return HostID(text: text)
    case .text:
      guard (1...HostID.bytesMax).contains(text.utf8.count), !text.unicodeScalars.contains(where: \.isControl) else {
        return nil
      }
      return HostID(text: text)
    }
  }

  /// What an id of this type is called in a message to a client, such as `a UUID`.
  package var noun: String {
    switch self {
    case .uuid: "a UUID"
    case .bigint: "an integer"
    case .text: "1 to \(HostID.bytesMax) bytes of text without control characters"
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || value == 0x7F }
}

/// What a push is about: a row of the host, and which kind of event it is.
package struct PushSubject: Hashable, Sendable, Decodable {
  /// As columns name them.
  private enum CodingKeys: String, CodingKey {
    case id = "subjectID"
    case kind
  }

  /// The host's id of the row, for messages the message id.
  package let id: HostID

  /// The kind of event, `message` for chat messages; also the ledger's `push_type`.
  package let kind: String

  package init(id: HostID, kind: String) {
    self.id = id
    self.kind = kind
  }

  package static func message(_ id: HostID) -> PushSubject { PushSubject(id: id, kind: MessagePush.name) }

  /// By what pushes about it replace one another: its id, or a digest of an id that APNs would not take.
  package var collapseText: String {
    let text = id.text
    return (try? CollapseIdentifier(text)) == nil ? PushIdentifier.digest(of: text) : text
  }

  /// Whether a text has the form of a kind: a small letter, then up to 62 small letters, digits and underscores.
  package static func canBeKind(_ text: String) -> Bool {
    guard (1...63).contains(text.utf8.count), let first = text.utf8.first else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return letters.contains(first)
      && text.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
  }
}

extension PushSubject {
  /// The id of the ledger's row about one recipient: known before the row is written, so that the push can carry it, and
  /// the same in every attempt of every process.
  ///
  /// A UUID of version 8 (RFC 9562 §5.8): 48 bits of the milliseconds at which the event was committed, then bits of a
  /// hash over event and recipient. The time in front keeps rows of one moment together in the primary key, as those
  /// that the ledger's default makes. Nothing secret goes in.
  /// - Parameter enqueuedAt: when the event was committed, microseconds since 1970.
  package func logID(of userID: HostID, enqueuedAt: Int64) -> UUID {
    let random = digest(withUserID: userID).withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
    let time = UInt64(truncatingIfNeeded: enqueuedAt / 1000) << 16
    let high = time | 0x8000 | random.0 & 0x0FFF
    let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Of the ids and the kind, on the stack, because every push has one. Texts have any length, and no text holds a zero
  /// byte, so that a zero separates them.
  private func digest(withUserID userID: HostID) -> SHA256Digest {
    let separates = id.uuid == nil || userID.uuid == nil
    return id.withBytes { id in
      userID.withBytes { userID in
        let byteCount = id.count + userID.count + kind.utf8.count + (separates ? 2 : 0)
        return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes in
          var end = 0
          func append(_ part: some Collection<UInt8>) {
            UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: part)
            end += part.count
          }
          for part in [id, userID] {
            append(part)
            if separates { append(CollectionOfOne(0)) }
          }
          append(kind.utf8)
          return SHA256.hash(UnsafeRawBufferPointer(bytes))
        }
      }
    }
  }
}

/// What a user can look at: a conversation, or anything else that the host calls a surface.
package struct SurfaceID: Hashable, Sendable {
  package static let conversationKind = "conversation"

  /// `conversation`, or a kind that the host has named.
  package let kind: String

  /// The host's id of it within its kind.
  package let id: HostID

  package init(kind: String, id: HostID) {
    self.kind = kind
    self.id = id
  }

  package static func conversation(_ id: HostID) -> SurfaceID { SurfaceID(kind: conversationKind, id: id) }
}
