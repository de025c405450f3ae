import Foundation
import Testing

@testable import TacetClient

@Suite("Calls of an app about slots")
struct SlotCallTests {
  private static let schedule = """
    {"settings_hint":true,"rows":[{"identifier":"ritual.0800.2026-11-22","campaign":"ritual","slot":"0800",
    "fire_date":"2026-11-22","fire_at":"2026-11-22T07:00:00.000Z","local_time":"2026-11-22T08:00:00","title":"Morning",
    "body":"Drink","category":"TERRAIN_RITUAL","thread_id":"ritual.2026-11-22","tolerance_seconds":600,
    "data":{"type":"ritual","micro_action":4,"is_new":true,"more":[1]},"later":1}]}
    """
  private static let configuration = """
    {"flags":{"mode":"online_first","ttlSeconds":86400,"runnerRearm":false},
    "channels":[{"id":"c","name":"Daily","importance":"high"}],
    "categories":[{"id":"TS_DAILY","actions":[{"id":"OPEN","title":"Open","options":["foreground"]}]}]}
    """

  private func client(_ transport: MockTransport) -> PushServiceClient {
    PushServiceClient(origin: URL(string: "https://push.example.com")!, transport: transport) { "t0ken" }
  }

  @Test("a schedule is read once; then its entity tag is sent, and nil says that it is the same")
  func schedule() async throws {
    let transport = MockTransport([
      .status(200, fields: ["ETag": "\"a\""], content: Self.schedule), .status(304),
      .status(200, content: Self.schedule),
    ])
    let client = client(transport)
    let schedule = try #require(try await client.schedule(days: 3, max: 10, deviceToken: Data([0xAB])))
    let row = try #require(schedule.rows.first)
    #expect(schedule.settingsHint && row.toleranceSeconds == 600 && row.threadID == "ritual.2026-11-22")
    #expect(row.fireAt == Date(timeIntervalSince1970: 1_795_330_800))
    #expect(
      row.data == ["type": .string("ritual"), "micro_action": .integer(4), "is_new": .boolean(true), "more": .other])
    #expect(try await client.schedule(unless: schedule) == nil)
    #expect(try await client.schedule() != nil)
    #expect(
      transport.lines == [
        "GET /v1/schedule?days=3&max=10&device_token=ab", "GET /v1/schedule?days=7&max=64",
        "GET /v1/schedule?days=7&max=64",
      ])
    #expect(transport.asked.map(\.tag) == [nil, "\"a\"", nil])
  }

  @Test("a configuration likewise")
  func configuration() async throws {
    let transport = MockTransport([
      .status(200, fields: ["ETag": "\"b\""], content: Self.configuration), .status(304),
    ])
    let client = client(transport)
    let configuration = try #require(try await client.configuration())
    #expect(configuration.flags["ttlSeconds"] == .integer(86_400) && configuration.channels[0].importance == "high")
    #expect(configuration.categories[0].actions[0].options == ["foreground"])
    #expect(try await client.configuration(unless: configuration) == nil)
    #expect(transport.lines == ["GET /v1/config", "GET /v1/config"])
    #expect(transport.asked.map(\.tag) == [nil, "\"b\""])
  }

  @Test("slots are read and written in one form, and delivered")
  func slots() async throws {
    let document = #"{"enabled":true,"slots":[{"enabled":false,"phase":"morning","slot":"0730","weekdays":[1,7]}]}"#
    let transport = MockTransport([
      .status(200, content: document), .status(200, content: Self.schedule),
      .status(200, content: #"{"queued":true,"push_id":"x"}"#),
      .status(200, content: #"{"queued":false,"reason":"cooldown"}"#),
    ])
    let client = client(transport)
    let slots = try await client.slots(of: "ritual")
    #expect(
      slots
        == UserSlots(
          enabled: true, slots: [.init(slot: "0730", phase: "morning", enabled: false, weekdays: [1, 7])]))
    #expect(try await client.choose(slots, of: "ritual").rows.count == 1)
    #expect(try await client.deliver(slot: "0730", of: "ritual").queued)
    #expect(try await client.deliver(slot: "0730", of: "ritual").reason == "cooldown")
    #expect(
      transport.lines == [
        "GET /v1/slots/ritual", "PUT /v1/slots/ritual", "POST /v1/slots/ritual/0730/deliver",
        "POST /v1/slots/ritual/0730/deliver",
      ])
    let sent = try #require(transport.asked[1].content)
    #expect(try JSONDecoder().decode(UserSlots.self, from: Data(sent.utf8)) == slots)
  }

  @Test("reports are sent in the service's words")
  func reports() async throws {
    let transport = MockTransport([
      .status(200, content: #"{"streak":4}"#), .status(200, content: "{}"),
      .status(200, content: #"{"accepted":1,"duplicates":0,"rejected":[{"index":1,"field":"code"}]}"#),
    ])
    let client = client(transport)
    let date = Date(timeIntervalSince1970: 1_795_330_800)
    let id = UUID()
    let action = SlotAction("DID_THIS", of: "ritual.0800.2026-11-22", at: date, id: id)
    #expect(try await client.report(action).streak == 4)
    #expect(try await client.report(SlotAction("OPEN", of: "daily.0800.2026-11-22")).streak == nil)
    var event = SlotEvent(
      .armed, slot: "0800", identifier: "ritual.0800.2026-11-22", deviceToken: Data([0xAA]), due: date)
    event.id = id
    event.zoneOffset = -60
    event.date = .distantPast
    let receipt = try await client.report([event])
    #expect(receipt.accepted == 1 && receipt.rejected == [.init(index: 1, field: "code")])
    #expect(transport.lines == ["POST /v1/actions", "POST /v1/actions", "POST /v1/telemetry"])
    let name = id.uuidString.lowercased()
    let contents = try transport.asked.map { try members($0.content) }
    #expect(
      contents[0]
        == ["action": "DID_THIS", "at": "2026-11-22T07:00:00.000Z", "id": name, "identifier": "ritual.0800.2026-11-22"])
    let events = try #require(contents[2]["events"] as? [NSDictionary])
    #expect(
      events == [
        [
          "id": name, "code": "armed", "slotId": "0800", "identifier": "ritual.0800.2026-11-22", "device_token": "aa",
          "whenMs": 1_795_330_800_000, "attempt": 1, "networkState": "unknown", "tzOffset": -60, "appState": "active",
          "timestamp": 0,
        ]
      ])
  }

  private func members(_ text: String?) throws -> NSDictionary {
    let value = try JSONSerialization.jsonObject(with: Data((text ?? "").utf8))
    return try #require(value as? NSDictionary ?? (value as? [String: Any]).map { NSDictionary(dictionary: $0) })
  }

  @Test("an answer that cannot be read is refused, and an unknown campaign names itself")
  func failures() async throws {
    let problem = #"{"title":"Bad Request","status":400,"detail":"no","field":"campaign"}"#
    let transport = MockTransport([
      .status(200, content: "{}"), .status(200, content: "[]"), .status(400, content: problem),
    ])
    let client = client(transport)
    var errors: [PushServiceError] = []
    do { _ = try await client.schedule() } catch { errors.append(error) }
    do { _ = try await client.report([]) } catch { errors.append(error) }
    do { _ = try await client.slots(of: "nobody") } catch { errors.append(error) }
    #expect(errors.map(\.code) == [.refused, .refused, .refused])
    #expect(errors.map(\.field) == [nil, nil, "campaign"])
  }

  @Test(
    "an authorization is registered in the service's words",
    arguments: [
      (DeviceRegistration.Authorization.authorized, "authorized"), (.provisional, "provisional"), (.denied, "denied"),
      (.notDetermined, "not_determined"), (nil, nil),
    ] as [(DeviceRegistration.Authorization?, String?)])
  func authorization(status: DeviceRegistration.Authorization?, word: String?) async throws {
    let transport = MockTransport()
    try await client(transport).register(
      DeviceRegistration(
        deviceToken: Data([0xAA]), app: nil, platform: nil, locale: nil, timeZone: nil, authorization: status))
    #expect(try members(transport.asked[0].content)["authorization"] as? String == word)
  }
}
