internal import FoundationEssentials

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
