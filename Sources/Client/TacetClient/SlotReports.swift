public import Foundation

/// A user's action of a notification.
public struct SlotAction: Hashable, Sendable, Codable {
  /// Made once for each action, so that a repeated report counts once.
  public let id: UUID

  /// The action's identifier in its category, such as `DID_THIS`.
  public let action: String

  /// The notification's identifier.
  public let identifier: String

  /// When it was taken; not older than 14 days.
  public let date: Date

  /// Describes one.
  public init(_ action: String, of identifier: String, at date: Date = Date(), id: UUID = UUID()) {
    self.id = id
    self.action = action
    self.identifier = identifier
    self.date = date
  }

  private enum CodingKeys: String, CodingKey {
    case id, action, identifier, at
  }

  private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// Writes the service's document.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(id.uuidString.lowercased(), forKey: .id)
    try body.encode(action, forKey: .action)
    try body.encode(identifier, forKey: .identifier)
    // The style cuts. A quarter of a millisecond more keeps a time that was read from losing one with each writing.
    let time = Date(timeIntervalSince1970: ((date.timeIntervalSince1970 * 1000).rounded() + 0.25) / 1000)
    try body.encode(time.formatted(Self.timeStyle), forKey: .at)
  }

  /// Reads the service's document.
  public init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    id = try body.decode(UUID.self, forKey: .id)
    action = try body.decode(String.self, forKey: .action)
    identifier = try body.decode(String.self, forKey: .identifier)
    date = try Self.timeStyle.parse(try body.decode(String.self, forKey: .at))
  }

  /// Whether the service takes a button's identifier: 1 to 64 letters, digits and `_.-`.
  static func isName(_ button: String) -> Bool {
    (1...64).contains(button.utf8.count) && button.utf8.allSatisfy(\.isInNames)
  }
}

/// What the campaign answers to an action.
public struct SlotActionAnswer: Hashable, Sendable, Decodable {
  /// Of a ritual: consecutive days with a completion.
  public let streak: Int?
}

/// What the service did with reported events.
public struct SlotEventReceipt: Hashable, Sendable, Decodable {
  /// An event that it does not take; sending it again does not help.
  public struct Rejection: Hashable, Sendable, Decodable {
    /// The event's place, from 0.
    public let index: Int
    /// The wrong member.
    public let field: String?
  }

  /// New events.
  public let accepted: Int
  /// Events that were reported before.
  public let duplicates: Int
  /// Events that cannot be used.
  public let rejected: [Rejection]
}
