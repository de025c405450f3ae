internal import Crypto
public import FoundationEssentials
public import PushRules

/// What a push is about: a row of the host, and which kind of event it is.
public struct PushSubject: Hashable, Sendable {
  /// The host's id of the row, for messages the message id.
  public let id: UUID

  /// The kind of event, `message` for chat messages; also the ledger's `push_type`.
  public let kind: String

  /// Names a subject.
  public init(id: UUID, kind: String) {
    self.id = id
    self.kind = kind
  }

  /// The kind of ``ReadSync``.
  public static let readSyncKind = "read_sync"

  /// The kind of chat messages.
  public static let messageKind = "message"

  /// The chat message with this id.
  public static func message(_ id: UUID) -> PushSubject { PushSubject(id: id, kind: messageKind) }

  /// Whether a text has the form of a kind: a small letter, then up to 62 small letters, digits and underscores.
  public static func canBeKind(_ text: String) -> Bool {
    guard (1...63).contains(text.utf8.count), let first = text.utf8.first else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return letters.contains(first)
      && text.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
  }
}

/// A claimed piece of work: an event with all its recipients, or what remains of one for a single recipient.
public struct PushEvent: Equatable, Sendable {
  /// Which table the claim was made on, and so which row the record removes.
  public enum Origin: Equatable, Sendable {
    /// A new event. Recipients who are in the ledger already are left out.
    case inbox
    /// A hold that has ended or a retry that is due, for one recipient.
    case delivery
  }

  /// What happened.
  public let subject: PushSubject

  /// Where the work came from.
  public let origin: Origin

  /// Claims so far, this one included. It fences the record: a later claim has a higher number.
  public let attempts: Int

  /// When the event was committed, by the database's clock; microseconds since 1970.
  public let enqueuedAt: Int64

  /// When this claim was made, by the database's clock; microseconds since 1970.
  public let claimedAt: Int64

  /// The message; nil when it has been deleted.
  public let message: MessageContent?

  /// What a push about an event of another kind says; nil for a message, and when the row has been deleted.
  public internal(set) var notice: EventNotice?

  /// What other devices learn about a read; nil for events of other kinds.
  public internal(set) var readSync: ReadSync?

  /// The recipients; may be empty.
  public internal(set) var recipients: [PushRecipient]

  /// Whether only a part of the recipients was claimed; the others come with a later claim.
  public internal(set) var hasMore = false

  /// When the database answered the claim, by its clock; microseconds since 1970. What the look
  /// itself has taken is known by it.
  public internal(set) var answeredAt: Int64 = 0

  /// What the ledger keeps of its words: those of a push that a server asked for, never the host's.
  var content: String? { notice.flatMap { $0.surface == nil ? "\($0.title)\n\($0.body)" : nil } }

  /// The conversation or surface that its recipients may be looking at; nil when the event is gone.
  public var surfaceID: UUID? { message?.conversationID ?? notice?.surface?.id }
}

/// What the composer needs of a message.
public struct MessageContent: Equatable, Sendable {
  /// The conversation it belongs to.
  public let conversationID: UUID

  /// The sender's name as the host shows it, at most its first 1024 characters; nil when unknown.
  public let senderName: String?

  /// The text, at most its first 4096 characters; empty for a message without text.
  public let text: String
}

/// What the composer needs of an event that is no message: the words that the database has made of its row.
public struct EventNotice: Equatable, Sendable {
  /// The first line, at most 4096 characters.
  public let title: String

  /// The text, at most 4096 characters; may be empty.
  public let body: String

  /// What its recipients may be looking at; nil for a push that a server asked for, whose words are ours to keep.
  public let surface: SurfaceID?

  /// The app's data as a JSON object; nil without any.
  public var data: String?

  /// By what it replaces others on the screen; nil for by nothing but itself.
  public var collapseID: String?
}

/// What the composer needs of a user's reads; the event's message names their conversation when there is only one.
public struct ReadSync: Equatable, Sendable {
  /// What was read, the oldest first; at most the newest ninety, at least one.
  public let messageIDs: [UUID]

  /// Whether more was read before those.
  public let hasMore: Bool

  /// Describes reads.
  public init(messageIDs: [UUID], hasMore: Bool) {
    self.messageIDs = messageIDs
    self.hasMore = hasMore
  }
}

/// One recipient of an event, with everything a decision needs.
public struct PushRecipient: Equatable, Sendable {
  /// The host's user id.
  public let userID: UUID

  /// Whether the user still takes part in the conversation.
  public let isParticipant: Bool

  /// What the rules look at.
  public let situation: RecipientSituation

  /// The user's unread messages, absolute; nil when they were not counted, and the app's icon keeps its badge.
  public let badge: Int?

  /// Devices that have not got this push yet; at most ``ClaimLimits/devicesMax``.
  public let devices: [PushDevice]

  /// Device tokens that APNs accepted in an earlier attempt.
  public let acceptedDevices: [String]

  /// How often APNs' answers have put this push off; what its lane went through does not count.
  public internal(set) var retries = 0

  /// What ended its hold before the hold's time, as ``HistoryEntry/releasedBy``; nil when nothing did.
  public internal(set) var releasedBy: String?

  /// When that was, by the database's clock; microseconds since 1970. Nil when nothing ended it.
  public internal(set) var releasedAt: Int64?
}

/// A device token as the host stores it.
public struct PushDevice: Equatable, Sendable {
  /// Hexadecimal text, not yet checked; at most `DeviceToken.digitsMax` bytes.
  public let token: String

  /// `production` or `sandbox`; nil when the token's registration did not say.
  public let environment: String?

  /// The bundle identifier of the app that got the token, not yet checked; nil when its registration did not say.
  public let app: String?

  /// Describes a device token.
  public init(token: String, environment: String? = nil, app: String? = nil) {
    self.token = token
    self.environment = environment
    self.app = app
  }
}

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
