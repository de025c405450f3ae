import Testing

@testable import PushRules

@Suite("Alert payloads")
struct AlertPayloadTests {
  @Test("custom data cannot replace what belongs to Apple")
  func reservedKey() throws {
    let error = try #require(throws: PushRequestError.self) {
      try AlertPayload(title: "t", body: "b", custom: ["type": "message", "aps": 1])
    }
    #expect(error.code == .customKeyReserved)
  }

  @Test("a key that only looks like Apple's is the app's own", arguments: ["APS", "aps ", "priority"])
  func similarKeys(key: String) throws {
    var custom = PayloadObject()
    custom[key] = 1
    #expect(try AlertPayload(title: "t", body: "b", custom: custom).custom == custom)
  }

  @Test("a push that nobody would notice is refused")
  func unnoticed() throws {
    let attempts: [() throws -> AlertPayload] = [
      { try AlertPayload() },
      { try AlertPayload(title: "", subtitle: "", body: "", sound: "") },
      { try AlertPayload(body: .localized(key: "", arguments: ["a"])) },
      { try AlertPayload(threadIdentifier: "c", category: "c", custom: ["k": 1]) },
    ]
    for attempt in attempts {
      #expect { try attempt() } throws: { ($0 as? PushRequestError)?.code == .nothingToShow }
    }
  }

  @Test("what only counts with a text is refused without one")
  func needsText() throws {
    #expect(throws: PushRequestError.self) { try AlertPayload(sound: "s", runsServiceExtension: true) }
    #expect(try AlertPayload(subtitle: "s", runsServiceExtension: true).runsServiceExtension)
  }
}

@Suite("Fractions from 0 to 1")
struct UnitFractionTests {
  @Test("both ends and all between are taken", arguments: [0, -0.0, .leastNonzeroMagnitude, 0.5, 1.0.nextDown, 1])
  func taken(value: Double) throws {
    #expect(try UnitFraction(value).value == value)
  }

  @Test(
    "what lies beyond is refused",
    arguments: [-Double.leastNonzeroMagnitude, 1.0.nextUp, -1, 2, .infinity, -.infinity, .nan])
  func refused(value: Double) throws {
    let error = try #require(throws: PushRequestError.self) { try UnitFraction(value) }
    #expect(error.code == .fractionOutOfRange)
  }

}

private typealias Row = (payload: AlertPayload, aps: String)

/// Payloads of little more than a title, each with its `aps` but for the title.
private func rows() throws -> [Row] {
  [
    (try AlertPayload(title: "t"), ""),
    (try AlertPayload(title: "t", threadIdentifier: "c-1"), #","thread-id":"c-1""#),
    (try AlertPayload(title: "t", category: "MEAL"), #","category":"MEAL""#),
    (try AlertPayload(title: "t", interruptionLevel: .passive), #","interruption-level":"passive""#),
    (try AlertPayload(title: "t", interruptionLevel: .active), #","interruption-level":"active""#),
    (try AlertPayload(title: "t", interruptionLevel: .timeSensitive), #","interruption-level":"time-sensitive""#),
    (try AlertPayload(title: "t", interruptionLevel: .critical), #","interruption-level":"critical""#),
    (try AlertPayload(title: "t", relevanceScore: UnitFraction(0)), #","relevance-score":0.0"#),
    (try AlertPayload(title: "t", relevanceScore: UnitFraction(0.25)), #","relevance-score":0.25"#),
    (try AlertPayload(title: "t", runsServiceExtension: true), #","mutable-content":1"#),
    (try AlertPayload(title: "t", sound: "default"), #","sound":"default""#),
    (try AlertPayload(title: "t", sound: "achievement.caf"), #","sound":"achievement.caf""#),
    (try AlertPayload(title: "t", sound: ""), ""),
    (try AlertPayload(title: "t", threadIdentifier: "", category: ""), ""),
  ]
}

@Suite("The encoding of an alert payload")
struct AlertPayloadEncodingTests {
  @Test("everything set comes in a fixed order")
  func full() throws {
    let payload = try AlertPayload(
      title: "Message from Ana", subtitle: "Choir", body: "Hi \"you\"", sound: "default",
      threadIdentifier: "c-1", category: "MESSAGE", interruptionLevel: .active, relevanceScore: UnitFraction(1),
      runsServiceExtension: true,
      custom: ["type": "message", "conversation_id": "c-1", "message_id": "m-1"])
    #expect(
      text(payload, badge: 3)
        == #"{"aps":{"alert":{"title":"Message from Ana","subtitle":"Choir","body":"Hi \"you\""},"#
        + #""badge":3,"sound":"default","thread-id":"c-1","category":"MESSAGE","interruption-level":"active","#
        + #""relevance-score":1.0,"mutable-content":1},"type":"message","conversation_id":"c-1","message_id":"m-1"}"#)
  }

  @Test("each member has its form, and what is empty or nil is left out")
  func members() throws {
    for row in try rows() {
      #expect(text(row.payload) == #"{"aps":{"alert":{"title":"t"}\#(row.aps)}}"#)
    }
  }

  @Test(
    "texts are words, or keys with their arguments",
    arguments: [
      ("t", "", "", #""title":"t""#), ("", "s", "", #""subtitle":"s""#), ("", "", "b", #""body":"b""#),
      ("t", "s", "b", #""title":"t","subtitle":"s","body":"b""#),
      (.localized(key: "T"), "", "", #""title-loc-key":"T""#),
      (.localized(key: ""), .localized(key: "", arguments: ["a"]), "b", #""body":"b""#),
      (
        .localized(key: "T", arguments: ["1"]), .localized(key: "S", arguments: ["2", ""]),
        .localized(key: "B", arguments: ["\"3\""]),
        #""title-loc-key":"T","title-loc-args":["1"],"subtitle-loc-key":"S","subtitle-loc-args":["2",""],"#
          + #""loc-key":"B","loc-args":["\"3\""]"#
      ),
    ] as [(AlertText, AlertText, AlertText, String)])
  func texts(title: AlertText, subtitle: AlertText, body: AlertText, alert: String) throws {
    let payload = try AlertPayload(title: title, subtitle: subtitle, body: body)
    #expect(text(payload) == #"{"aps":{"alert":{\#(alert)}}}"#)
  }

  @Test(
    "a badge stands where it belongs, or is left out, beside any other members",
    arguments: [(nil, ""), (-1, #""badge":0"#), (0, #""badge":0"#), (.max, #""badge":9223372036854775807"#)]
      as [(Int?, String)])
  func badges(badge: Int?, member: String) throws {
    let comma = member.isEmpty ? "" : ","
    #expect(try text(AlertPayload(title: "t"), badge: badge) == #"{"aps":{"alert":{"title":"t"}\#(comma)\#(member)}}"#)
    let silent = try AlertPayload(title: "", sound: "default", custom: ["k": .null])
    #expect(text(silent, badge: badge) == #"{"aps":{\#(member)\#(comma)"sound":"default"},"k":null}"#)
    let both = try AlertPayload(title: "t", sound: "s")
    #expect(text(both, badge: badge) == #"{"aps":{"alert":{"title":"t"}\#(comma)\#(member),"sound":"s"}}"#)
  }

  @Test("the log id is the last member, and with the largest badge the document has the bytes that were said")
  func identified() throws {
    let payload = try AlertPayload(title: "t", custom: ["k": "v"])
    let document = payload.encoded(badge: .max, logID: logID)
    #expect(String(decoding: document, as: UTF8.self).hasSuffix(#"},"k":"v","push_log_id":"\#(logID)"}"#))
    #expect(document.count == payload.documentBytesMax)
  }
}

private func makePayload(
  title: AlertText = "Message from Ana", subtitle: AlertText = "", body: AlertText
) throws -> AlertPayload {
  try AlertPayload(
    title: title, subtitle: subtitle, body: body, sound: "default", custom: ["type": "message"])
}

/// The bytes with the largest badge of what is left of a payload, whose own document is still that of the whole.
private func bytes(_ payload: AlertPayload) -> Int { AlertDocument(payload).bytesMax }

private let clusters = [
  "a", "é", "e\u{301}", "👨‍👩‍👧‍👦", "🇩🇪", "각", "\u{1112}\u{1161}\u{11AB}", "漢", "👍🏽", "क्षि", "\"", "\\", "\n", "\u{1}",
  "\r\n", "Z͑ͫ̓ͪ",
]

@Suite("Fitting an alert into a byte limit")
struct AlertPayloadFittingTests {
  @Test("what fits is left alone, up to the last byte")
  func fits() throws {
    let payload = try makePayload(body: "Hello")
    let size = bytes(payload)
    #expect(try payload.fitted(to: size) == payload)
  }

  @Test(
    "a body of any clusters is cut between them, and no cluster more would have fitted",
    arguments: clusters, ["", "t"])
  func cuts(cluster: String, title: String) throws {
    let words = String(repeating: cluster, count: 5_000)
    let payload = try makePayload(title: .verbatim(title), subtitle: "s", body: .verbatim(words))
    for bytesMax in [280, 281, 335, 1_000, 4_095, 4_096] {
      let fitted = try payload.fitted(to: bytesMax)
      #expect(bytes(fitted) <= bytesMax)
      let kept = try #require(fitted.body?.words).dropLast(3)
      #expect(words.hasPrefix(kept) && kept.count * cluster.count == kept.count)
      let more = try makePayload(title: .verbatim(title), subtitle: "s", body: .verbatim(kept + cluster + "..."))
      #expect(bytes(more) > bytesMax)
    }
  }

  @Test("one byte too many trims, on both sides of APNs' limit", arguments: [(4096, true), (4097, false)])
  func limit(size: Int, isWhole: Bool) throws {
    let padding = size - bytes(try makePayload(body: "x")) + 1
    let payload = try makePayload(body: .verbatim(String(repeating: "x", count: padding)))
    #expect(bytes(payload) == size && payload.isWhole == isWhole)
    #expect(payload.encoded(badge: .max, logID: logID).count == 4096)
  }

  @Test("one byte too many takes four, to make room for the continuation")
  func oneByte() throws {
    let payload = try makePayload(body: "Hello, world")
    #expect(try payload.fitted(to: bytes(payload) - 1).body == "Hello, w...")
  }

  @Test(
    "with hardly any room the body goes, then its continuation, then the push",
    arguments: [(13, Optional("...")), (12, ""), (0, ""), (-1, nil)])
  func hardlyAnyRoom(room: Int, expected: String?) throws {
    let bytesMax = bytes(try makePayload(body: "")) + room
    let payload = try makePayload(body: "Hello")
    guard let expected else {
      let error = try #require(throws: PushRequestError.self) { try payload.fitted(to: bytesMax) }
      #expect(error.code == .payloadTooLarge)
      return
    }
    let fitted = try payload.fitted(to: bytesMax)
    #expect(fitted.body == (expected.isEmpty ? nil : .verbatim(expected)))
  }

  @Test("of a localised body the longest argument is cut, of equally long ones the first")
  func localised() throws {
    let half = String(repeating: "👨‍👩‍👧‍👦", count: 150)
    for (arguments, index) in [([half + half], 0), (["Ana", half + half], 1), ([half, "Ana", half], 0)] {
      let payload = try makePayload(body: .localized(key: "MESSAGE", arguments: arguments))
      let excess = bytes(payload) - 4_096
      let fitted = try payload.fitted(to: 4_096)
      #expect(excess > 0 && bytes(fitted) <= 4_096)
      guard case .localized("MESSAGE", let rest, _) = fitted.body else {
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
    let error = try #require(throws: PushRequestError.self) {
      try makePayload(title: title, subtitle: subtitle, body: body)
    }
    #expect(error.code == .payloadTooLarge && !error.message.contains("tttt"))
  }

  @Test("a body is not cut away when nothing else would be shown")
  func nothingLeft() throws {
    let payload = try AlertPayload(body: "Hello", custom: ["k": "v"])
    let least = bytes(payload) - 2
    #expect(try payload.fitted(to: least).body == "...")
    #expect(throws: PushRequestError.self) { try payload.fitted(to: least - 1) }
  }

  @Test("a text made to be slow costs what its length costs", .timeLimit(.minutes(5)))
  func hostile() throws {
    let many = 200_000
    for words in [
      "e" + String(repeating: "\u{301}", count: many), String(repeating: "🇩", count: many),
      String(repeating: "👩\u{200D}", count: many), String(repeating: "क\u{94D}", count: many),
      String(repeating: "\r\n", count: many), String(repeating: "\u{0}", count: many),
    ] {
      for body in [AlertText.verbatim(words), .localized(key: "k", arguments: ["a", words])] {
        #expect(try makePayload(body: body).encoded(badge: .max, logID: logID).count <= 4_096)
      }
    }
  }
}

@Suite("Background payloads")
struct BackgroundPayloadTests {
  private func text(_ custom: PayloadObject, badge: Int? = nil) throws -> String {
    String(decoding: try PushPayload.background(custom).encoded(badge: badge, logID: ""), as: UTF8.self)
  }

  @Test("aps holds content-available alone, custom data stands beside it, and a badge of null becomes the recipient's")
  func bytes() throws {
    #expect(try text([:], badge: 3) == #"{"aps":{"content-available":1}}"#)
    #expect(
      try text(["sync": true, "badge": .null], badge: 3) == #"{"aps":{"content-available":1},"sync":true,"badge":3}"#)
    #expect(try text(["sync": true, "badge": .null]) == #"{"aps":{"content-available":1},"sync":true}"#)
  }

  @Test("custom data cannot replace what belongs to Apple")
  func reservedKey() throws {
    let error = try #require(throws: PushRequestError.self) { try text(["aps": .object([:])]) }
    #expect(error.code == .customKeyReserved)
  }
}

private let logID = "01234567-89ab-cdef-0123-456789abcdef"

/// The document as text without its log id, to be compared with what is expected byte for byte.
private func text(_ payload: AlertPayload, badge: Int? = nil) -> String {
  String(decoding: payload.encoded(badge: badge, logID: logID), as: UTF8.self)
    .replacing(#","push_log_id":"\#(logID)"}"#, with: "}")
}
