public import FoundationEssentials

/// What a user can look at: a conversation, or anything else that the host calls a surface.
public struct Surface: Hashable, Sendable {
  /// The kind that conversations have.
  public static let conversationKind = "conversation"

  /// `conversation`, or a kind that the host has named.
  public let kind: String

  /// The host's id of it within its kind.
  public let id: UUID

  /// Names a surface.
  public init(kind: String, id: UUID) {
    self.kind = kind
    self.id = id
  }

  /// The conversation with this id.
  public static func conversation(_ id: UUID) -> Surface { Surface(kind: conversationKind, id: id) }
}

/// A user and what they may look at.
public struct SurfaceView: Hashable, Sendable {
  /// What is looked at.
  public let surface: Surface

  /// Who looks.
  public let userID: UUID

  /// Joins them.
  public init(of surface: Surface, by userID: UUID) {
    self.surface = surface
    self.userID = userID
  }
}

/// What an app says of its user.
public enum PresenceSign: Sendable {
  /// The user looks now.
  case looking
  /// The user has left.
  case left
}

/// What one user's app has said of one surface since it was last written.
public struct PresenceReport: Equatable, Sendable {
  /// Whether the user has looked since.
  public private(set) var hasLooked: Bool

  /// Whether the user has left after the last look, or without any.
  public private(set) var hasLeft: Bool

  /// One sign.
  public init(_ sign: PresenceSign) {
    hasLooked = sign == .looking
    hasLeft = sign == .left
  }

  /// Takes what is said next. Leaving erases no look, and a look ends having left.
  public mutating func add(_ sign: PresenceSign) {
    hasLooked = hasLooked || sign == .looking
    hasLeft = sign == .left
  }

  /// Takes what was said afterwards.
  public mutating func add(_ later: PresenceReport) {
    hasLooked = hasLooked || later.hasLooked
    hasLeft = later.hasLeft
  }
}

/// What a user is to a surface.
public enum SurfaceStanding: Equatable, Sendable {
  /// There is no such surface.
  case unknown
  /// The user takes no part in it.
  case stranger
  /// The user takes part.
  case viewer
  /// The user takes part, but nothing could be written, because somebody else has locked the row.
  case busy
  /// The user takes part, but row-level security lets the service write none of the rows: trying again does not help.
  case unwritable

  init(_ takesPart: Bool?) {
    switch takesPart {
    case nil: self = .unknown
    case false?: self = .stranger
    case true?: self = .viewer
    }
  }
}
