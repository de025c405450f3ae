/// What a visible push says, and what it gives the app along.
///
/// Priority, expiration and the collapse identifier are header fields; there is deliberately no way to put them in
/// here, because APNs ignores them inside `aps` without a word. Source: "Generating a remote notification" (Apple).
public struct AlertPayload: Equatable, Sendable {
  /// The first line, in bold; an empty one is left out.
  public var title: String
  /// The text; an empty one is left out.
  public var body: String
  /// The number on the app's icon, absolute and from 0, which removes it; nil leaves it as it is.
  public var badge: Int?
  /// A sound file of the app, or `default`; nil is silent.
  public var sound: String?
  /// What the system groups by, such as a conversation.
  public var threadIdentifier: String?
  /// The registered category that brings the action buttons.
  public var category: String?
  /// The app's own data, which stands beside `aps`.
  public let custom: PayloadObject

  /// Puts a payload together.
  ///
  /// - Throws: `customKeyReserved` when `custom` has a member named `aps`, which would replace everything else.
  public init(
    title: String,
    body: String,
    badge: Int? = nil,
    sound: String? = nil,
    threadIdentifier: String? = nil,
    category: String? = nil,
    custom: PayloadObject = [:]
  ) throws(PushRequestError) {
    guard custom["aps"] == nil else { throw PushRequestError(.customKeyReserved, "the key aps belongs to Apple") }
    self.title = title
    self.body = body
    self.badge = badge
    self.sound = sound
    self.threadIdentifier = threadIdentifier
    self.category = category
    self.custom = custom
  }
}
