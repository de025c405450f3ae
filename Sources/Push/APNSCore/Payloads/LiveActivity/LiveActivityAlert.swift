/// What lights the screen when a Live Activity starts, changes or ends.
///
/// It differs from the alert of an ``AlertPayload``: localised texts stand inside `title` and `body`, and so does the
/// sound inside the alert.
public struct LiveActivityAlert: Equatable, Sendable {
  /// The title; nil leaves it out.
  public let title: AlertText?
  /// The text; nil leaves it out.
  public internal(set) var body: AlertText?
  /// A sound file of the app, or `default`; nil is silent.
  public let sound: String?

  /// - Throws: `nothingToShow` when title and body are nil or empty.
  public init(title: AlertText? = nil, body: AlertText? = nil, sound: String? = nil) throws(PushRequestError) {
    self.title = title?.unlessEmpty
    self.body = body?.unlessEmpty
    self.sound = sound
    guard hasText else { throw PushRequestError(.nothingToShow, "an alert needs a title or a body") }
  }

  private var hasText: Bool { title != nil || body != nil }

  /// The same with another body; nil when no text would be left.
  func replacingBody(_ body: AlertText) -> LiveActivityAlert? {
    var alert = self
    alert.body = body.unlessEmpty
    return alert.hasText ? alert : nil
  }
}

extension JSONBytes {
  /// The member `alert`; nil is left out.
  mutating func append(_ alert: LiveActivityAlert?) {
    guard let alert else { return }
    append(member: "alert") { json in
      json.append(alert.title, named: "title")
      json.append(alert.body, named: "body")
      json.append(member: "sound", text: alert.sound)
    }
  }

  private mutating func append(_ text: AlertText?, named name: StaticString) {
    switch text {
    case .verbatim(let words): append(member: name, text: words)
    case .localized(let key, let arguments):
      append(member: name) { json in
        json.append(member: "loc-key", text: key)
        json.append(member: "loc-args", texts: arguments)
      }
    case nil: break
    }
  }
}
