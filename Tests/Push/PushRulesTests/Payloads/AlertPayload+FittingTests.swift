import PushRules
import Testing

private func makePayload(
  title: AlertText = "Message from Ana", subtitle: AlertText = "", body: AlertText
) throws -> AlertPayload {
  try AlertPayload(
    title: title, subtitle: subtitle, body: body, badge: 1, sound: .default, custom: ["type": "message"])
}

private let clusters = [
  "a", "é", "e\u{301}", "👨‍👩‍👧‍👦", "🇩🇪", "각", "\u{1112}\u{1161}\u{11AB}", "漢", "👍🏽", "क्षि", "\"", "\\", "\n", "\u{1}",
  "\r\n", "Z͑ͫ̓ͪ",
]

@Suite("Fitting an alert into a byte limit")
struct AlertPayloadFittingTests {
  @Test("what fits is left alone, up to the last byte")
  func fits() throws {
    let payload = try makePayload(body: "Hello")
    let bytes = payload.encoded().count
    let fitted = try payload.fitted(to: bytes)
    #expect(fitted.payload == payload && fitted.trimmed == nil)
    #expect(fitted.bytesBefore == bytes && fitted.bytesAfter == bytes)
    #expect(!fitted.isTrimmed)
  }

  @Test(
    "a body of any clusters is cut between them, and no cluster more would have fitted",
    arguments: clusters, ["", "t"])
  func cuts(cluster: String, title: String) throws {
    let words = String(repeating: cluster, count: 5_000)
    let payload = try makePayload(title: .verbatim(title), subtitle: "s", body: .verbatim(words))
    for bytesMax in [200, 201, 255, 1_000, 4_095, 4_096] {
      let fitted = try payload.fitted(to: bytesMax)
      #expect(fitted.bytesAfter <= bytesMax && fitted.bytesAfter == fitted.payload.encoded().count)
      #expect(fitted.bytesBefore == payload.encoded().count && fitted.trimmed == .body)
      let kept = try #require(fitted.payload.body?.words).dropLast(3)
      #expect(words.hasPrefix(kept) && kept.count * cluster.count == kept.count)
      let more = try makePayload(title: .verbatim(title), subtitle: "s", body: .verbatim(kept + cluster + "..."))
      #expect(more.encoded().count > bytesMax)
    }
  }

  @Test("one byte too many trims, on both sides of the type's limit", arguments: [(4096, false), (4097, true)])
  func limit(bytes: Int, isTrimmed: Bool) throws {
    let padding = bytes - (try makePayload(body: "x").encoded().count) + 1
    let payload = try makePayload(body: .verbatim(String(repeating: "x", count: padding)))
    #expect(payload.encoded().count == bytes)
    let fitted = try payload.fitted(to: PushType.alert.bodyBytesMax)
    #expect(fitted.isTrimmed == isTrimmed)
    #expect(fitted.bytesBefore == bytes && fitted.bytesAfter == 4096)
  }

  @Test("one byte too many takes four, to make room for the continuation")
  func oneByte() throws {
    let payload = try makePayload(body: "Hello, world")
    #expect(try payload.fitted(to: payload.encoded().count - 1).payload.body == "Hello, w...")
  }

  @Test(
    "with hardly any room the body goes, then its continuation, then the push",
    arguments: [(13, Optional("...")), (12, ""), (0, ""), (-1, nil)])
  func hardlyAnyRoom(room: Int, expected: String?) throws {
    let bytesMax = try makePayload(body: "").encoded().count + room
    let payload = try makePayload(body: "Hello")
    guard let expected else {
      let error = try #require(throws: PushRequestError.self) { try payload.fitted(to: bytesMax) }
      #expect(error.code == .payloadTooLarge)
      return
    }
    let fitted = try payload.fitted(to: bytesMax)
    #expect(fitted.payload.body == (expected.isEmpty ? nil : .verbatim(expected)))
    #expect(fitted.trimmed == .body)
  }

  @Test("of a localised body the longest argument is cut, of equally long ones the first")
  func localised() throws {
    let half = String(repeating: "👨‍👩‍👧‍👦", count: 150)
    for (arguments, index) in [([half + half], 0), (["Ana", half + half], 1), ([half, "Ana", half], 0)] {
      let payload = try makePayload(body: .localized(key: "MESSAGE", arguments: arguments))
      let excess = payload.encoded().count - 4_096
      let fitted = try payload.fitted(to: 4_096)
      #expect(fitted.trimmed == .bodyArgument(index) && excess > 0 && fitted.bytesAfter <= 4_096)
      guard case .localized("MESSAGE", let rest, _) = fitted.payload.body else {
        Issue.record("another body")
        return
      }
      #expect(rest.indices.allSatisfy { $0 == index || rest[$0] == arguments[$0] })
      #expect(arguments[index].hasPrefix(rest[index].dropLast(3)) && rest[index].hasSuffix("👨‍👩‍👧‍👦..."))
    }
  }

  @Test(
    "only the body is ever shortened",
    arguments: [
      (.verbatim(String(repeating: "t", count: 4_100)), "", "Hello"),
      ("t", .verbatim(String(repeating: "s", count: 4_100)), "Hello"),
      (.verbatim(String(repeating: "t", count: 4_100)), "", ""),
      ("t", "", .localized(key: String(repeating: "k", count: 4_100))),
      ("t", "", .localized(key: String(repeating: "k", count: 4_100), arguments: ["a"])),
    ] as [(AlertText, AlertText, AlertText)])
  func untouched(title: AlertText, subtitle: AlertText, body: AlertText) throws {
    let payload = try makePayload(title: title, subtitle: subtitle, body: body)
    let error = try #require(throws: PushRequestError.self) { try payload.fitted(to: 4_096) }
    #expect(error.code == .payloadTooLarge && !error.message.contains("tttt"))
  }

  @Test("a body is not cut away when nothing else would be shown")
  func nothingLeft() throws {
    let payload = try AlertPayload(body: "Hello", custom: ["k": "v"])
    #expect(try payload.fitted(to: 40).payload.body == "...")
    #expect(throws: PushRequestError.self) { try payload.fitted(to: 39) }
  }

  @Test("a text made to be slow costs what its length costs", .timeLimit(.minutes(1)))
  func hostile() throws {
    let many = 200_000
    for words in [
      "e" + String(repeating: "\u{301}", count: many), String(repeating: "🇩", count: many),
      String(repeating: "👩\u{200D}", count: many), String(repeating: "क\u{94D}", count: many),
      String(repeating: "\r\n", count: many), String(repeating: "\u{0}", count: many),
    ] {
      let fitted = try makePayload(body: .verbatim(words)).fitted(to: 4_096)
      #expect(fitted.bytesAfter <= 4_096 && fitted.bytesBefore > many)
      let localised = try makePayload(body: .localized(key: "k", arguments: ["a", words])).fitted(to: 4_096)
      #expect(localised.bytesAfter <= 4_096 && localised.trimmed == .bodyArgument(1))
    }
  }
}
