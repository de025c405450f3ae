import APNSCore
import Testing

private func makeEvents(body: AlertText, title: AlertText? = "t") throws -> [LiveActivityPayload.Event] {
  let alert = try LiveActivityAlert(title: title, body: body, sound: "default")
  return [
    .start(try LiveActivityStart(attributesType: "A", attributes: ["a": 1], contentState: ["s": 1], alert: alert)),
    .update(LiveActivityUpdate(contentState: ["s": 1], alert: alert, staleDate: 9)),
    .end(LiveActivityEnd(contentState: ["s": 1], alert: alert, dismissalDate: 9)),
  ]
}

private func makePayload(_ event: LiveActivityPayload.Event) throws -> LiveActivityPayload {
  try LiveActivityPayload(timestamp: 9, event: event)
}

@Suite("Fitting a Live Activity into a byte limit")
struct LiveActivityPayloadFittingTests {
  @Test(
    "the alert's body is cut between clusters, for every event, and everything else is kept",
    arguments: ["a", "e\u{301}", "👨‍👩‍👧‍👦", "🇩🇪", "漢", "\""])
  func cuts(cluster: String) throws {
    for event in try makeEvents(body: .verbatim(String(repeating: cluster, count: 5_000))) {
      let payload = try makePayload(event)
      let fitted = try payload.fitted(to: PushType.liveactivity.bodyBytesMax)
      #expect(fitted.trimmed == .body && fitted.bytesBefore == payload.encoded().count)
      #expect(fitted.bytesAfter == fitted.payload.encoded().count)
      // A cluster of 25 bytes is the largest here, so that less than that is left over.
      #expect((4_072...4_096).contains(fitted.bytesAfter))
      let clusters = (4_096 - (try room(beside: event))) / JSONWidth.of(cluster)
      let expected = String(repeating: cluster, count: clusters) + "..."
      #expect(try fitted.payload == makePayload(events(like: event, body: .verbatim(expected))))
    }
  }

  @Test("a localised body loses of its longest argument")
  func localised() throws {
    let words = String(repeating: "🇩🇪", count: 1_000)
    for event in try makeEvents(body: .localized(key: "B", arguments: ["Ana", words])) {
      let fitted = try makePayload(event).fitted(to: 4_096)
      #expect(fitted.trimmed == .bodyArgument(1) && (4_089...4_096).contains(fitted.bytesAfter))
    }
  }

  @Test("both sides of the limit", arguments: [(4_096, false), (4_097, true)])
  func limit(bytes: Int, isTrimmed: Bool) throws {
    for event in try makeEvents(body: "x") {
      let padding = bytes - (try makePayload(event).encoded().count) + 1
      let padded = try events(like: event, body: .verbatim(String(repeating: "x", count: padding)))
      let payload = try makePayload(padded)
      #expect(payload.encoded().count == bytes)
      let fitted = try payload.fitted(to: 4_096)
      #expect(fitted.isTrimmed == isTrimmed && fitted.bytesBefore == bytes && fitted.bytesAfter == 4_096)
    }
  }

  @Test("a state that is too large by itself is refused, with or without an alert")
  func largeState() throws {
    let state: PayloadObject = ["s": .string(String(repeating: "x", count: 4_100))]
    for alert in [nil, try LiveActivityAlert(title: "t", body: "b")] {
      let payload = try makePayload(.update(LiveActivityUpdate(contentState: state, alert: alert)))
      let error = try #require(throws: PushRequestError.self) { try payload.fitted(to: 4_096) }
      #expect(error.code == .payloadTooLarge)
    }
  }

  @Test("an alert keeps a text: the body goes only beside a title")
  func emptied() throws {
    for event in try makeEvents(body: "Hello") {
      let bytesMax = try makePayload(events(like: event, body: "")).encoded().count
      #expect(try makePayload(event).fitted(to: bytesMax).payload == makePayload(events(like: event, body: "")))
    }
    for event in try makeEvents(body: "Hello", title: nil) {
      let bytesMax = try makePayload(event).encoded().count - 2
      #expect(try makePayload(event).fitted(to: bytesMax).trimmed == .body)
      #expect(throws: PushRequestError.self) { try makePayload(event).fitted(to: bytesMax - 1) }
    }
  }

  /// Bytes of the document whose body is the continuation alone.
  private func room(beside event: LiveActivityPayload.Event) throws -> Int {
    try makePayload(events(like: event, body: "...")).encoded().count
  }

  private func events(like event: LiveActivityPayload.Event, body: AlertText) throws -> LiveActivityPayload.Event {
    let events = try makeEvents(body: body)
    return switch event {
    case .start: events[0]
    case .update: events[1]
    case .end: events[2]
    }
  }
}

/// Bytes of a text inside a JSON string, by counting what the few characters of these tests need.
private enum JSONWidth {
  static func of(_ text: String) -> Int { text.utf8.count + text.utf8.filter { $0 == UInt8(ascii: "\"") }.count }
}
