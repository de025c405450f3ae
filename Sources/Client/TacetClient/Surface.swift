public import Foundation

/// Something a user can look at, and need not be pushed about meanwhile.
public struct Surface: Hashable, Sendable {
  /// What it is, e.g. `conversation` or the name the back end has given to a surface of its own.
  public let kind: String

  /// Which one: the host's id.
  public let id: UUID

  /// Names a surface.
  public init(kind: String, id: UUID) {
    self.kind = kind
    self.id = id
  }

  /// The conversation with this id.
  public static func conversation(_ id: UUID) -> Surface { Surface(kind: "conversation", id: id) }

  /// Where its views are reported, behind the service's origin.
  var path: [String] {
    let place = kind == "conversation" ? ["conversations"] : ["surfaces", kind]
    return ["v1"] + place + [id.uuidString.lowercased(), "last-seen"]
  }
}
