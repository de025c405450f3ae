import Foundation
import PushRules
import Reactors
import Testing

@testable import PushStore

@Suite("Reported events of slots")
struct SlotEventReportTests {
  private typealias Scene = SlotReportScene

  @Test("an event counts once, in a batch and over several")
  func once() async throws {
    let scene = try await Scene()
    let ids = (0..<3).map { _ in UUID() }
    #expect(try await scene.report([ids[0], ids[1], ids[0]].map { Scene.event(.dismissed, id: $0) }) == 2)
    #expect(try await scene.report(ids.map { Scene.event(.dismissed, id: $0) }) == 1)
    #expect(try await scene.report(ids.map { Scene.event(.dismissed, id: $0) }, of: scene.chat.readers[1]) == 3)
    let noted = """
      select count(*), min(identifier), min(device_token) from tacet.notif_events where user_id = '\(scene.user)'
      """
    #expect(try await scene.database.sql(noted) == "3|ritual.0800.2026-11-22|aa")
  }

  @Test("an opened notification is an opened push")
  func opened() async throws {
    let scene = try await SlotReportScene()
    try await scene.push()
    try await scene.report(.delivered)
    #expect(try await scene.opened() == "")
    try await scene.report(.opened)
    #expect(try await scene.opened() == "row\nsnooze ritual.0800")
  }

  @Test("what a dropped device has said is forgotten with the next report of the user's")
  func dropped() async throws {
    let scene = try await SlotReportScene()
    for _ in 0..<20 {
      let token = UUID().uuidString.filter { $0 != "-" }.lowercased()
      var device = RegisteredDevice(token: token)
      device.authorization = "denied"
      let denied = device
      let outcome = try await withStore(scene.database) {
        try await $0.register(denied, of: scene.user, devicesMax: 2, on: $1)
      }
      #expect(outcome == .registered)
    }
    #expect(try await scene.permissions().split(separator: "\n").count <= 2)
  }

  @Test("two connections that report one batch count it once")
  func atOnce() async throws {
    let scene = try await Scene()
    let call = """
      tacet.report_slot_events('\(scene.user)', '{\(UUID())}', '{armed}', '{ritual.0800.2026-11-22}', '{ritual}',
        '{0800}', '{2026-11-22}', '{aa}', '{"{}"}', array[now()])
      """
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin; select \(call)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value("(select count(*) from \(call))", on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == "0")
    }
    #expect(try await scene.state() == "armed|aa|due")
  }

  @Test("a device arms a row and takes that back; the row is due again when none is left")
  func armed() async throws {
    let scene = try await Scene()
    try await scene.report(.armed, .armed)
    #expect(try await scene.state() == "armed|aa|due")
    try await scene.report(.armed, token: "bb")
    #expect(try await scene.state() == "armed|aa bb|due")
    try await scene.database.sql("update tacet.notif_deliveries set available_at = 'infinity'")
    try await scene.report(.cancelled)
    #expect(try await scene.state() == "armed|bb|never")
    try await scene.report(.cancelled)
    #expect(try await scene.state() == "armed|bb|never")
    try await scene.report(.cancelled, token: "bb")
    #expect(try await scene.state() == "scheduled||due")
    try await scene.report(.armed, .cancelled, .armed)
    #expect(try await scene.state() == "armed|aa|due")
  }

  @Test("a device of another user, an unknown one and another user's event arm nothing")
  func strangers() async throws {
    let scene = try await Scene()
    try await scene.report(.armed, token: "cc")
    try await scene.report(.armed, token: "dd")
    try await scene.report(.armed, token: nil)
    try await scene.report(.armed, token: "aa", of: scene.chat.readers[1])
    try await scene.report(.armed, token: "cc", of: scene.chat.readers[1])
    try await scene.report([Scene.event(.armed, row: nil)])
    #expect(try await scene.state() == "scheduled||due")
    try await scene.report(.permissionDenied, .exactAlarmMissing, token: "cc")
    try await scene.report(.permissionDenied, token: nil)
    #expect(try await scene.permissions() == "")
  }

  @Test("at most 64 devices arm a row", arguments: [63, 64])
  func bound(known: Int) async throws {
    let scene = try await Scene()
    try await scene.database.sql(
      """
      update tacet.notif_deliveries
      set status = 'armed', armed_by = array(select 'x' || n from generate_series(1, \(known)) as n)
      """)
    try await scene.report(.armed)
    #expect(try await scene.database.sql("select cardinality(armed_by) from tacet.notif_deliveries") == "64")
  }

  @Test(
    "an acknowledgement moves a sent row forward",
    arguments: [
      ("sent", .delivered, "delivered"), ("sent", .opened, "opened"), ("delivered", .opened, "opened"),
      ("delivered", .delivered, "delivered"), ("opened", .delivered, "opened"), ("sent", .dismissed, "sent"),
      ("sent", .armed, "sent"), ("sent", .cancelled, "sent"), ("scheduled", .delivered, "scheduled"),
      ("scheduled", .opened, "scheduled"), ("skipped", .delivered, "skipped"), ("skipped", .armed, "skipped"),
      ("cancelled", .armed, "cancelled"), ("cancelled", .opened, "cancelled"), ("failed", .opened, "failed"),
      ("armed", .delivered, "armed"), ("armed", .storageBusy, "armed"),
    ] as [(String, SlotEvent.Code, String)])
  func forward(status: String, code: SlotEvent.Code, expected: String) async throws {
    let scene = try await Scene()
    try await scene.database.sql("update tacet.notif_deliveries set status = '\(status)'")
    try await scene.report(code)
    #expect(try await scene.database.sql("select status from tacet.notif_deliveries") == expected)
  }

  @Test("a row that all devices show by themselves is delivered and opened there")
  func shownThere() async throws {
    let scene = try await Scene()
    try await scene.database.sql(
      "update tacet.notif_deliveries set status = 'armed', armed_by = '{aa,bb}', available_at = 'infinity'")
    try await scene.report(.delivered)
    #expect(try await scene.database.sql("select status from tacet.notif_deliveries") == "delivered")
  }

  @Test("missing permissions are those of the device, until it registers as allowed")
  func permissions() async throws {
    let scene = try await Scene()
    try await scene.report(.exactAlarmMissing)
    try await scene.report(.permissionDenied, token: "bb")
    #expect(try await scene.permissions() == "aa|1|f|600\nbb|1|t|0")
    try await scene.report(.scheduleDenied)
    #expect(try await scene.permissions() == "aa|1|t|600\nbb|1|t|0")
    for (status, isDenied) in [
      (nil, true), ("not_determined", true), ("provisional", false), ("denied", true), ("authorized", false),
    ] as [(String?, Bool)] {
      try await register("aa", status, in: scene)
      #expect(try await scene.permissions() == "aa|1|\(isDenied ? "t" : "f")|600\nbb|1|t|0", "\(status ?? "nil")")
    }
  }

  @Test("a report from before the registration changes no permission, and the next user of a device begins anew")
  func later() async throws {
    let scene = try await Scene()
    try await register("aa", "authorized", in: scene)
    let early = Int64(Date().timeIntervalSince1970 - 3600) * 1_000_000
    try await scene.report([Scene.event(.permissionDenied, row: nil, happenedAt: early)])
    #expect(try await scene.permissions() == "aa|1|f|0")
    try await scene.report(.permissionDenied, .exactAlarmMissing)
    #expect(try await scene.permissions() == "aa|1|t|600")
    let next = scene.chat.readers[1]
    try await register("aa", nil, of: next, in: scene)
    #expect(try await scene.permissions() == "aa|1|t|600")
    try await register("aa", "authorized", of: next, in: scene)
    #expect(try await scene.permissions() == "aa|2|f|0")
  }

  @Test("a log-out forgets what the device may show; that of another user does not")
  func removed() async throws {
    let scene = try await Scene()
    try await scene.report(.permissionDenied)
    for (user, rows) in [(scene.chat.readers[1], "aa|1|t|0"), (scene.user, "")] {
      _ = try await withStore(scene.database) { try await $0.removeDevice("aa", of: user, on: $1) }
      #expect(try await scene.permissions() == rows)
    }
  }

  private func register(_ token: String, _ status: String?, of user: HostID? = nil, in scene: Scene) async throws {
    var device = RegisteredDevice(token: token)
    device.authorization = status
    let (registered, user) = (device, user ?? scene.user)
    _ = try await withStore(scene.database) { try await $0.register(registered, of: user, devicesMax: 10, on: $1) }
  }
}
