import PushRules
import Testing

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
      { try AlertPayload(threadIdentifier: "c", category: "c", wakesApp: true, custom: ["k": 1]) },
    ]
    for attempt in attempts {
      #expect { try attempt() } throws: { ($0 as? PushRequestError)?.code == .nothingToShow }
    }
  }

  @Test("what only counts with a text is refused without one")
  func needsText() throws {
    #expect(throws: PushRequestError.self) { try AlertPayload(badge: 1, runsServiceExtension: true) }
    #expect(throws: PushRequestError.self) { try AlertPayload(launchImage: "l", sound: .default) }
    #expect(try AlertPayload(subtitle: "s", launchImage: "l", runsServiceExtension: true).launchImage == "l")
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

  @Test("the ends have names")
  func ends() throws {
    #expect(try UnitFraction.zero == UnitFraction(0))
    #expect(try UnitFraction.one == UnitFraction(1))
  }
}
