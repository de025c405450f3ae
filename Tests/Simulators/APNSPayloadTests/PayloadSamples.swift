import APNSCore

/// Payloads of every push type: bare ones, and ones with all that they can hold.
enum PayloadSamples {
  static func all() throws -> [any PushPayload] {
    try alerts() + liveActivities() + customs() + [
      try BackgroundPayload(), try BackgroundPayload(custom: ["sync": true]), ReloadPayload.widgets,
      ReloadPayload.controls, try ManagementPayload(pushMagic: "6B8A4F5C-1D2E-4F3A-9B8C-7D6E5F4A3B2C"),
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
    let state: PayloadObject = ["elapsed": 60, "rate": .number(1.5)]
    let inputs: [LiveActivityStart.Input?] = [
      nil, .pushToken, .channel(try ChannelIdentifier("dHN0LXNyY2gtY2hubA==")),
    ]
    let starts = try inputs.map { input in
      LiveActivityPayload.Event.start(
        try LiveActivityStart(
          attributesType: "WorkoutAttributes", attributes: ["kind": "rowing"], contentState: state, alert: alert,
          staleDate: 1_790_001_800, relevanceScore: 100.0, input: input))
    }
    let others: [LiveActivityPayload.Event] = [
      .update(LiveActivityUpdate(contentState: state)),
      .update(LiveActivityUpdate(contentState: state, alert: alert, staleDate: 1_790_001_800, relevanceScore: -1.0)),
      .end(LiveActivityEnd(contentState: nil)),
      .end(LiveActivityEnd(contentState: state, alert: alert, dismissalDate: 1_790_000_030)),
    ]
    return try (starts + others).map { try LiveActivityPayload(timestamp: 1_790_000_000, event: $0) }
  }

  private static func customs() throws -> [any PushPayload] {
    try CustomPayload.Kind.allCases.flatMap { kind in
      [try CustomPayload(kind), try CustomPayload(kind, custom: ["caller": "Ana", "nested": .object(["k": .null])])]
    }
  }
}
