/// A row of `tacet.activity_updates`: the start, a state or the end of a Live Activity.
package struct LiveActivityPush: PushKind {
  package static let name = "live_activity"
  package static let eventKind: String? = name
  package static let words = KindWords(event: "Live Activity push")

  private struct Alert: Decodable {
    let title: String
    let body: String?
    let sound: String?
  }

  private struct Address: Decodable {
    let token: String
    let environment: String?
    let app: String?
  }

  /// As `tacet.live_activity_content` makes it. Times are Unix seconds; `dismiss_at` is of an end, the members from `attributes` on
  /// are of a start.
  private struct Document: Decodable {
    let activity_id: String
    let event: String
    let unix_time: Int64
    let type: String
    let state: PayloadObject
    let alert: Alert?
    let priority: Int
    let relevance: Double?
    let stale_at: Int64?
    let dismiss_at: Int64?
    let attributes: PayloadObject?
    let addresses: [Address]
  }

  /// How long APNs keeps an end, in seconds: as long as an ended Live Activity may stay on the Lock Screen.
  private static let endLife: Int64 = 4 * 3600

  private let document: Document

  package init(_ claimed: ClaimedContent) throws {
    document = try claimed.decode()
  }

  /// The tokens of the Live Activity.
  package var targets: [PushTarget]? {
    document.addresses.map {
      PushTarget(address: $0.token, environment: $0.environment, app: $0.app)
    }
  }

  /// The state. One that APNs still keeps is replaced by the next.
  package func push(about subject: PushSubject) throws(PushRequestError) -> Push {
    let payload = try LiveActivityPayload(
      timestamp: document.unix_time, event: try event(), contentState: document.state, staleDate: document.stale_at,
      relevanceScore: document.relevance, alert: try document.alert.map(alert))
    var push = try Push(
      .liveActivity(payload),
      collapsingBy: PushSubject(id: HostID(text: document.activity_id), kind: subject.kind).collapseText)
    push.priority = PushPriority(rawValue: document.priority) ?? .powerAware
    push.keptUntil = keptUntil
    return push
  }

  private var keptUntil: Int64? {
    document.event == "end" ? document.unix_time + Self.endLife : document.stale_at
  }

  private func event() throws(PushRequestError) -> LiveActivityPayload.Event {
    switch document.event {
    case "end": return .end(dismissalDate: document.dismiss_at)
    case "start":
      guard let alert = try document.alert.map(alert) else {
        throw PushRequestError(.nothingToShow, "a Live Activity starts with an alert")
      }
      return .start(
        LiveActivityStart(
          attributesType: document.type, attributes: document.attributes ?? [:],
          asksForToken: true, alert: alert))
    default: return .update
    }
  }

  private func alert(_ alert: Alert) throws(PushRequestError) -> LiveActivityAlert {
    try LiveActivityAlert(
      title: .verbatim(alert.title), body: alert.body.map { .verbatim($0) }, sound: alert.sound)
  }
}

/// What a push starts, updates or ends a Live Activity with.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications" (Apple). The device decodes attributes
/// and state as the app's own types, and drops in silence what does not fit them, although APNs has taken the push. Moments of
/// the payload are Unix seconds; moments inside attributes and states are what the app's decoder expects.
package struct LiveActivityPayload: Equatable, Sendable {
  package enum Event: Equatable, Sendable {
    case start(LiveActivityStart)
    case update
    /// The activity ends with this last state. It stays on the Lock Screen until the dismissal date, at most four hours;
    /// without a date, until the system removes it.
    case end(dismissalDate: Int64? = nil)
  }

  /// When the state was made. The device ignores a state that is older than the one it shows.
  package let timestamp: Int64
  package let event: Event
  /// The whole state, not a difference to the one before.
  package let contentState: PayloadObject
  /// When the state counts as outdated; nil for an end, which has none.
  package let staleDate: Int64?
  /// The place among the app's activities, of which the highest is featured; any finite number. Nil for an end, which has
  /// none.
  package let relevanceScore: Double?
  /// What the push says; nil for a silent one.
  package let alert: LiveActivityAlert?

  /// Puts a payload together; each parameter is the property of the same name.
  ///
  /// - Parameter alert: of an update or an end; a start brings its own.
  /// - Throws: `numberNotFinite` for a relevance score that JSON cannot write.
  package init(
    timestamp: Int64,
    event: Event,
    contentState: PayloadObject,
    staleDate: Int64? = nil,
    relevanceScore: Double? = nil,
    alert: LiveActivityAlert? = nil
  ) throws(PushRequestError) {
    self.timestamp = timestamp
    self.event = event
    self.contentState = contentState
    let score = try relevanceScore.map { score throws(PushRequestError) in try FiniteNumber(score).value }
    switch event {
    case .start(let start):
      (self.staleDate, self.relevanceScore, self.alert) = (staleDate, score, start.alert)
    case .update:
      (self.staleDate, self.relevanceScore, self.alert) = (staleDate, score, alert)
    case .end:
      (self.staleDate, self.relevanceScore, self.alert) = (nil, nil, alert)
    }
  }
}

package struct LiveActivityStart: Equatable, Sendable {
  /// The name of the app's type, as Swift spells it.
  package let attributesType: String
  /// What stays the same for the life of the activity.
  package let attributes: PayloadObject
  /// Whether the system is asked for an update token, which the app reports. iOS 18 and later know it.
  package var asksForToken: Bool = false
  /// What tells the user that the activity begins; the device starts none without it.
  package let alert: LiveActivityAlert
}

/// What a Live Activity's push says. Its sound belongs to it, unlike that of an ``AlertPayload``.
package struct LiveActivityAlert: Equatable, Sendable {
  /// The first line. The device ignores an alert without one, and its sound with it.
  package let title: AlertText
  /// The text; an empty one is left out.
  package let body: AlertText?
  /// A sound file of the app, or `default`; nil is silent.
  package let sound: String?

  /// Puts an alert together; each parameter is the property of the same name.
  ///
  /// - Throws: `nothingToShow` for an empty title.
  package init(title: AlertText, body: AlertText? = nil, sound: String? = nil) throws(PushRequestError) {
    guard let title = title.unlessEmpty else {
      throw PushRequestError(.nothingToShow, "the alert of a Live Activity needs a title")
    }
    self.title = title
    self.body = body?.unlessEmpty
    self.sound = sound
  }
}

extension LiveActivityPayload {
  package func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: AlertPayload.usualBytes) { json in
      json.append(member: "aps") { appendMembers(to: &$0) }
    }
  }

  private func appendMembers(to json: inout JSONBytes) {
    json.append(member: "timestamp", integer: timestamp)
    json.append(member: "event", text: event.name)
    if case .start(let start) = event { json.append(start) }
    json.append(member: "content-state", object: contentState)
    if let alert { json.append(alert) }
    json.append(member: "stale-date", integer: staleDate)
    if case .end(let dismissalDate) = event { json.append(member: "dismissal-date", integer: dismissalDate) }
    json.append(member: "relevance-score", number: relevanceScore)
  }
}

extension LiveActivityPayload.Event {
  fileprivate var name: String {
    switch self {
    case .start: "start"
    case .update: "update"
    case .end: "end"
    }
  }
}

extension JSONBytes {
  fileprivate mutating func append(_ start: LiveActivityStart) {
    append(member: "attributes-type", text: start.attributesType)
    append(member: "attributes", object: start.attributes)
    if start.asksForToken { append(member: "input-push-token", flag: true) }
  }

  fileprivate mutating func append(_ alert: LiveActivityAlert) {
    append(member: "alert") { json in
      json.append(member: "title", alert.title)
      if let body = alert.body { json.append(member: "body", body) }
      json.append(member: "sound", text: alert.sound)
    }
  }

  /// A text, or an object with the key of its translation, unlike in an alert of its own.
  private mutating func append(member name: StaticString, _ text: AlertText) {
    switch text {
    case .verbatim(let words): append(member: name, text: words)
    case .localized(let key, let arguments, _):
      append(member: name) { json in
        json.append(member: "loc-key", text: key)
        json.append(member: "loc-args", texts: arguments)
      }
    }
  }

  /// An object, also an empty one.
  fileprivate mutating func append(member name: StaticString, object: PayloadObject) {
    append(name: name)
    append(object: object)
  }
}
