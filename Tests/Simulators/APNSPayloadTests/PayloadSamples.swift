import APNSCore

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

  private static func liveActivities() -> [any PushPayload] {
    let alert = #""alert":{"title":"t","body":{"loc-key":"B","loc-args":["1"]},"sound":"default"}"#
    let state = #""content-state":{"elapsed":60,"rate":1.5}"#
    let start =
      #""event":"start","attributes-type":"WorkoutAttributes","attributes":{"kind":"rowing"},\#(state),\#(alert),"#
      + #""stale-date":1790001800,"relevance-score":100.0"#
    let events = [
      start, start + #","input-push-token":1"#, start + #","input-push-channel":"dHN0LXNyY2gtY2hubA==""#,
      #""event":"update",\#(state)"#,
      #""event":"update",\#(state),\#(alert),"stale-date":1790001800,"relevance-score":-1.0"#,
      #""event":"end""#, #""event":"end",\#(state),\#(alert),"dismissal-date":1790000030"#,
    ]
    return events.map { SampleDocument(.liveactivity, #"{"aps":{"timestamp":1790000000,\#($0)}}"#) }
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
