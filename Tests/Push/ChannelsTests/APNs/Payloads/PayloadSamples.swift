import PushRules

/// Payloads of every push type: bare ones, and ones with all that they can hold.
enum PayloadSamples {
  static func all() throws -> [any PushPayload] {
    try alerts() + liveActivities() + customs() + [
      try BackgroundPayload(), try BackgroundPayload(custom: ["sync": true]),
      SampleDocument(.widgets, #"{"aps":{"content-changed":true}}"#),
      SampleDocument(.controls, #"{"aps":{"content-changed":true}}"#),
      SampleDocument(.mdm, #"{"mdm":"6B8A4F5C-1D2E-4F3A-9B8C-7D6E5F4A3B2C"}"#),
    ]
  }

  private static func alerts() throws -> [any PushPayload] {
    [
      try AlertPayload(title: "t"), try AlertPayload(badge: 0), try AlertPayload(sound: .default),
      try AlertPayload(
        title: .localized(key: "TITLE"), subtitle: .localized(key: "SUBTITLE", arguments: ["s"]),
        body: .localized(key: "BODY", arguments: ["a", "b"]), sound: .critical(name: "urgent.caf", volume: .one)),
      try AlertPayload(
        title: "Message from Ana", subtitle: "Choir", body: "Hi \"you\"\n👨‍👩‍👧‍👦", launchImage: "l", badge: 3,
        sound: .default, threadIdentifier: "c-1", category: "MESSAGE", interruptionLevel: .timeSensitive,
        relevanceScore: UnitFraction(0.5), targetContentIdentifier: "w", filterCriteria: "f",
        runsServiceExtension: true, wakesApp: true, custom: ["image": "https://example.com/i.png", "list": .array([1])]),
    ]
  }

  private static func liveActivities() throws -> [any PushPayload] {
    let alert = try LiveActivityAlert(title: "t", body: .localized(key: "B", arguments: ["1"]), sound: "default")
    let starts = [false, true].map { asksForToken in
      LiveActivityPayload.Event.start(
        LiveActivityStart(
          attributesType: "WorkoutAttributes", attributes: ["kind": "rowing"], asksForToken: asksForToken, alert: alert)
      )
    }
    let events = starts + [.update, .end(), .end(dismissalDate: 1_790_000_030)]
    return try events.flatMap { event in
      [
        try LiveActivityPayload(timestamp: 1_790_000_000, event: event, contentState: [:]),
        try LiveActivityPayload(
          timestamp: 1_790_000_000, event: event, contentState: ["elapsed": 60, "rate": .number(1.5)],
          staleDate: 1_790_001_800, relevanceScore: 100, alert: alert),
      ]
    }
  }

  private static func customs() -> [any PushPayload] {
    let types: [PushType] = [.complication, .fileprovider, .location, .pushtotalk, .voip]
    return types.flatMap { type in
      [SampleDocument(type, "{}"), SampleDocument(type, #"{"caller":"Ana","nested":{"k":null}}"#)]
    }
  }
}

/// A document of a push type that the service itself never sends.
private struct SampleDocument: PushPayload {
  let pushType: PushType
  private let text: String

  init(_ pushType: PushType, _ text: String) {
    self.pushType = pushType
    self.text = text
  }

  func encoded() -> [UInt8] { Array(text.utf8) }
}
