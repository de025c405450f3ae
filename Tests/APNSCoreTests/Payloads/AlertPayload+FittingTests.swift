import APNSCore
import Testing

private func payload(title: String = "Message from Ana", body: String) throws -> AlertPayload {
  try AlertPayload(title: title, body: body, badge: 1, sound: "default", custom: ["type": "message"])
}

@Suite("Fitting an alert into a byte limit")
struct AlertPayloadFittingTests {
  @Test("what fits is left alone, up to the last byte")
  func fits() throws {
    let payload = try payload(body: "Hello")
    let fitted = try payload.fitted(to: payload.encoded().count)
    #expect(fitted.payload == payload)
    #expect(!fitted.isTrimmed)
  }

  @Test(
    "a body of any clusters is cut between them, and no cluster more would have fitted",
    arguments: ["a", "é", "e\u{301}", "👨‍👩‍👧‍👦", "🇩🇪", "각", "\"", "\\", "\n", "\u{1}", "\r\n"],
    ["", "t"])
  func cuts(cluster: String, title: String) throws {
    let payload = try payload(title: title, body: String(repeating: cluster, count: 5_000))
    for bytesMax in [200, 201, 255, 1_000, 4_095, 4_096] {
      var fitted = try payload.fitted(to: bytesMax).payload
      #expect(fitted.encoded().count <= bytesMax)
      let kept = fitted.body.dropLast(3)
      #expect(fitted.body.hasSuffix("...") && payload.body.hasPrefix(kept) && kept.count * cluster.count == kept.count)
      fitted.body = kept + cluster + "..."
      #expect(fitted.encoded().count > bytesMax)
    }
  }

  @Test("one byte too many trims")
  func oneByte() throws {
    let payload = try payload(body: "Hello, world")
    let fitted = try payload.fitted(to: payload.encoded().count - 1)
    #expect(fitted.isTrimmed)
    #expect(fitted.payload.body == "Hello, w...")
  }

  @Test(
    "with hardly any room the body goes, then its continuation, then the push",
    arguments: [(13, Optional("...")), (12, ""), (0, ""), (-1, nil)])
  func hardlyAnyRoom(room: Int, expected: String?) throws {
    let bytesMax = try payload(body: "").encoded().count + room
    let payload = try payload(body: "Hello")
    guard let expected else {
      let error = try #require(throws: PushRequestError.self) { try payload.fitted(to: bytesMax) }
      #expect(error.code == .payloadTooLarge)
      return
    }
    #expect(try payload.fitted(to: bytesMax).payload.body == expected)
  }

  @Test("a title is never shortened")
  func longTitle() throws {
    let payload = try payload(title: String(repeating: "t", count: 4_100), body: "Hello")
    #expect(throws: PushRequestError.self) { try payload.fitted(to: 4_096) }
  }
}
