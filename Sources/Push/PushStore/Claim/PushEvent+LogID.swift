internal import Crypto
public import FoundationEssentials

extension PushEvent {
  /// The id of the ledger's row about one recipient.
  public func logID(of userID: UUID) -> UUID { subject.logID(of: userID, enqueuedAt: enqueuedAt) }
}

extension PushSubject {
  /// The id of the ledger's row about one recipient: known before the row is written, so that the push can carry it, and
  /// the same in every attempt of every process.
  ///
  /// A UUID of version 8 (RFC 9562 §5.8): 48 bits of the milliseconds at which the event was committed, then bits of a
  /// hash over event and recipient. The time in front keeps rows of one moment together in the primary key, as those
  /// that the ledger's default makes. Nothing secret goes in.
  /// - Parameter enqueuedAt: when the event was committed, microseconds since 1970.
  func logID(of userID: UUID, enqueuedAt: Int64) -> UUID {
    var hash = SHA256()
    withUnsafeBytes(of: (id.uuid, userID.uuid)) { hash.update(bufferPointer: $0) }
    var kind = kind
    kind.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    let random = hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
    let time = UInt64(truncatingIfNeeded: enqueuedAt / 1000) << 16
    let high = time | 0x8000 | random.0 & 0x0FFF
    let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
