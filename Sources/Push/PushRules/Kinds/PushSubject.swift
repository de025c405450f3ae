internal import Cryptography
package import FoundationEssentials

/// What a push is about: a row of the host, and which kind of event it is.
package struct PushSubject: Hashable, Sendable {
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
