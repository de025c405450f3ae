/// A row of `tacet.activity_updates`: the start, a state or the end of a Live Activity.
package struct LiveActivityPush: PushContent {
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
  package func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    let payload = try LiveActivityPayload(
      timestamp: document.unix_time, event: try event(), contentState: document.state, staleDate: document.stale_at,
      relevanceScore: document.relevance, alert: try document.alert.map(alert))
    return try PreparedPush(
      payload, priority: PushPriority(rawValue: document.priority) ?? .powerAware, keptUntil: keptUntil,
      collapsingBy: PushSubject(id: HostID(text: document.activity_id), kind: subject.kind).collapseText)
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
