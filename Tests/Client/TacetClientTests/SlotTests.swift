import Foundation
import Synchronization
import Testing

@testable import TacetClient

@Suite("Documents about slots")
struct SlotDocumentTests {
  @Test("a schedule's row has a time, its data and its entity tag, which is sent with the next question")
  func schedule() async throws {
    let rows = """
      {"settings_hint":true,"rows":[{"identifier":"ritual.0800.2026-11-22","campaign":"ritual","slot":"0800",
      "fire_date":"2026-11-22","fire_at":"2026-11-22T07:00:00.000Z","local_time":"2026-11-22T08:00:00",
      "title":"Morning","body":"Drink","category":"TERRAIN_RITUAL","thread_id":"ritual.2026-11-22",
      "tolerance_seconds":600,"data":{"type":"ritual","micro_action":4,"is_new":true,"more":[1]},"later":1}]}
      """
    let transport = MockTransport([.status(200, fields: ["ETag": "\"a\""], content: rows), .status(304)])
    let schedule = try #require(try await PushServiceClient(transport).schedule())
    let row = try #require(schedule.rows.first)
    #expect(schedule.settingsHint && row.toleranceSeconds == 600 && row.threadID == "ritual.2026-11-22")
    #expect(row.fireAt == Date(timeIntervalSince1970: 1_795_330_800))
    #expect(
      row.data == ["type": .string("ritual"), "micro_action": .integer(4), "is_new": .boolean(true), "more": .other])
    #expect(try await PushServiceClient(transport).schedule(unless: schedule) == nil)
    #expect(transport.asked.map(\.tag) == [nil, "\"a\""])
  }

  @Test("an event of the app is sent in the service's words, and a rejected one is named")
  func event() async throws {
    let receipt = #"{"accepted":1,"duplicates":0,"rejected":[{"index":1,"field":"code"}]}"#
    let transport = MockTransport([.status(200, content: receipt)])
    var event = SlotEvent(
      .armed, slot: "0800", identifier: "ritual.0800.2026-11-22", deviceToken: Data([0xAA]),
      due: Date(timeIntervalSince1970: 1_795_330_800))
    event.zoneOffset = -60
    event.date = .distantPast
    #expect(try await PushServiceClient(transport).report([event]).rejected == [.init(index: 1, field: "code")])
    #expect(
      try transport.asked[0].json["events"]?.list == [
        .object([
          "id": .string(event.id.uuidString.lowercased()), "code": .string("armed"), "slotId": .string("0800"),
          "identifier": .string("ritual.0800.2026-11-22"), "device_token": .string("aa"),
          "whenMs": .number(1_795_330_800_000), "attempt": .number(1), "networkState": .string("unknown"),
          "tzOffset": .number(-60), "appState": .string("active"), "timestamp": .number(0),
        ])
      ])
  }

  @Test(
    "an authorization is registered in the service's words",
    arguments: [
      (DeviceRegistration.Authorization.authorized, "authorized"), (.provisional, "provisional"), (.denied, "denied"),
      (.notDetermined, "not_determined"), (nil, nil),
    ] as [(DeviceRegistration.Authorization?, String?)])
  func authorization(status: DeviceRegistration.Authorization?, word: String?) async throws {
    let transport = MockTransport()
    try await PushServiceClient(transport).register(
      DeviceRegistration(
        deviceToken: Data([0xAA]), app: nil, platform: nil, locale: nil, timeZone: nil, authorization: status))
    #expect(try transport.asked[0].json["authorization"]?.text == word)
  }
}

@Suite("A device's schedule")
struct ScheduleKeeperTests {
  private let device = ManualDevice(at: SharedCase.instant("2026-11-22T06:00:00Z"))
  private let store = MemoryStore()
  private let server = CaseServer()
  private let rows: JSON = .array([.string("ritual.0800.2026-11-22"), .string("ritual.2000.2026-11-22")])

  private func start(
    whenAsked action: @escaping @Sendable () async -> Void = {}
  ) -> (TelemetryQueue, ScheduleKeeper) {
    let client = PushServiceClient(server)
    let queue = TelemetryQueue(client, store: store) {
      await action()
      return Data([0xAB])
    }
    return (queue, ScheduleKeeper(client, scheduler: device, queue: queue, store: store, clock: device.clock))
  }

  private func answer(_ rows: JSON, telemetry: JSON = .object(["status": .number(200)])) {
    server.script([
      "schedule": .object(["status": .number(200), "etag": .string("\"a\""), "rows": rows]), "telemetry": telemetry,
    ])
  }

  /// The identifiers that were reported as armed.
  private var armedReports: Set<String> {
    let events: [JSON] = server.asked.flatMap { $0.content?["events"]?.list ?? [] }
    return Set(events.filter { $0["code"]?.text == "armed" }.compactMap { $0["identifier"]?.text })
  }

  @Test("a process that dies at any write leaves what the next start puts right", arguments: 0...5)
  func death(writes: Int) async throws {
    let changed: JSON = .array([
      .object(["identifier": .string("ritual.0800.2026-11-22"), "title": .string("New")]),
      .string("ritual.2000.2026-11-23"),
    ])
    answer(rows, telemetry: .string("offline"))
    try await start().1.keep()
    store.die(after: writes)
    answer(changed, telemetry: .string("offline"))
    try await start().1.keep()
    store.revive()
    answer(changed)
    let (queue, keeper) = start()
    try await keeper.keep()
    _ = device.changes()
    #expect(armedReports.isSuperset(of: device.held))
    try await keeper.keep()
    // The second run has nothing to do, so the system holds what the schedule says.
    #expect(device.changes().armed.isEmpty)
    #expect(device.held.sorted() == ["ritual.0800.2026-11-22", "ritual.2000.2026-11-23"])
    #expect(await queue.count == 0)
  }

  @Test("an arming that a dying process has not noted is repeated, so no old text stays")
  func oldText() async throws {
    let changed: JSON = .array([.object(["identifier": .string("ritual.0800.2026-11-22"), "title": .string("New")])])
    answer(rows)
    try await start().1.keep()
    // Of the second run only what it forgets before it arms is stored.
    store.die(after: 1)
    answer(changed)
    try await start().1.keep()
    store.revive()
    _ = device.changes()
    answer(rows)
    try await start().1.keep()
    #expect(device.changes().armed.map(\.title) == ["T", "T"])
  }

  @Test("a row that the system cannot show is left out, and the others are armed")
  func unusable() async throws {
    device.take(1, then: .unusable)
    answer(rows)
    let (queue, keeper) = start()
    try await keeper.keep()
    #expect(device.held == ["ritual.0800.2026-11-22"])
    #expect(await queue.count == 0)
    #expect(armedReports == ["ritual.0800.2026-11-22"])
  }

  @Test("runs at the same time are one")
  func joined() async throws {
    answer(rows)
    let (_, keeper) = start()
    async let first: Void = keeper.keep()
    async let second: Void = keeper.keep()
    _ = try await (first, second)
    #expect(device.changes().armed.count == 2)
  }

  @Test("a log-out during a run leaves nothing armed")
  func logOut() async throws {
    answer(rows)
    let box = Mutex<ScheduleKeeper?>(nil)
    let (queue, keeper) = start {
      // The log-out waits for the run, which waits for this.
      guard let keeper = box.withLock({ $0 }) else { return }
      Task { await keeper.clear() }
      while await !keeper.isClearing { await Task.yield() }
    }
    box.withLock { $0 = keeper }
    try await keeper.keep()
    while await keeper.isClearing { await Task.yield() }
    #expect(device.held.isEmpty && store.load("schedule") == nil)
    #expect(await queue.count == 0)
  }

  @Test("a run that a log-out meets arms nothing")
  func runDuringLogOut() async throws {
    answer(rows)
    let (_, keeper) = start()
    try await keeper.keep()
    device.whenCancelled { try? await keeper.keep() }
    await keeper.clear()
    #expect(device.held.isEmpty)
    try await keeper.keep()
    #expect(device.held.count == 2)
  }

  @Test("a trigger after the clock was set back is a run")
  func setBack() async throws {
    answer(rows)
    let (_, keeper) = start()
    try await keeper.keep()
    device.now = device.now.addingTimeInterval(-3600)
    await keeper.trigger()
    #expect(await !keeper.isWaiting)
    #expect(server.asked.filter { $0.line.contains("schedule") }.count == 2)
  }

  @Test("a request has the row's words, data and local time")
  func request() async throws {
    device.zone = try #require(TimeZone(identifier: "Europe/Vienna"))
    answer(
      .array([
        .object([
          "identifier": .string("ritual.0800.2026-11-22"),
          "data": .object(["type": .string("ritual"), "micro_action": .number(4), "x": .array([]), "y": .boolean(true)]
          ),
        ])
      ]))
    try await start().1.keep()
    let armed = try #require(device.changes().armed.first)
    #expect(
      armed.title == "T" && armed.body == "B" && armed.category == "TS_DAILY" && armed.threadID == "ritual.2026-11-22")
    #expect(
      armed.components == DateComponents(year: 2026, month: 11, day: 22, hour: 8, minute: 0, second: 0))
    #expect(PushContent(armed.userInfo).microAction == 4 && PushContent(armed.userInfo).type == "ritual")
    #expect(armed.userInfo.count == 3)
  }

  @Test("an answer has 1024 rows at most", arguments: [(1024, true), (1025, false)])
  func rowsMax(count: Int, isTaken: Bool) async throws {
    answer(.array((0..<count).map { .string("c\($0).0800.2026-11-23") }))
    let (_, keeper) = start()
    if isTaken {
      try await keeper.keep()
    } else {
      await #expect(throws: PushServiceError.self) { try await keeper.keep() }
    }
    #expect(device.held.count == (isTaken ? 64 : 0))
  }
}

@Suite("Local times")
struct LocalTimeTests {
  @Test(
    "a time has one form, and exists",
    arguments: [
      ("2026-11-22T08:00:00", true), ("2028-02-29T00:00:00", true), ("2026-02-29T00:00:00", false),
      ("2026-11-22T23:59:59", true), ("2026-11-22T24:00:00", false), ("2026-11-22T08:60:00", false),
      ("2026-11-22T08:00:60", false), ("2026-00-22T08:00:00", false), ("2026-13-22T08:00:00", false),
      ("2026-11-00T08:00:00", false), ("2026-11-31T08:00:00", false), ("1969-12-31T00:00:00", false),
      ("9999-12-31T23:59:59", true), ("2026-11-22 08:00:00", false), ("2026-11-22T08:00:00Z", false),
      ("2026-11-22T08:00", false), ("", false), ("2026-11-22T0٨:00:00", false), ("+026-11-22T08:00:00", false),
    ])
  func form(text: String, isTime: Bool) { #expect((LocalTime(text) != nil) == isTime) }

  @Test(
    "a skipped time moves on by the gap, and a doubled one is its first",
    arguments: [
      ("2027-03-28T01:59:59", "Europe/Vienna", "2027-03-28T00:59:59Z"),
      ("2027-03-28T02:00:00", "Europe/Vienna", "2027-03-28T01:00:00Z"),
      ("2027-03-28T02:59:59", "Europe/Vienna", "2027-03-28T01:59:59Z"),
      ("2027-03-28T03:00:00", "Europe/Vienna", "2027-03-28T01:00:00Z"),
      ("2026-10-25T01:59:59", "Europe/Vienna", "2026-10-24T23:59:59Z"),
      ("2026-10-25T02:00:00", "Europe/Vienna", "2026-10-25T00:00:00Z"),
      ("2026-10-25T02:59:59", "Europe/Vienna", "2026-10-25T00:59:59Z"),
      ("2026-10-25T03:00:00", "Europe/Vienna", "2026-10-25T02:00:00Z"),
      ("2026-11-22T08:00:00", "Asia/Kathmandu", "2026-11-22T02:15:00Z"),
      ("2026-10-04T02:15:00", "Australia/Lord_Howe", "2026-10-03T15:45:00Z"),
    ])
  func instants(text: String, zone: String, instant: String) throws {
    let zone = try #require(TimeZone(identifier: zone))
    #expect(try #require(LocalTime(text)).date(in: zone) == SharedCase.instant(instant))
  }
}
