import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Reported actions")
struct SlotActionReportTests {
  @Test("the campaign's function is called once for an id; a repeated report has the same answer")
  func once() async throws {
    let scene = try await SlotReportScene()
    let id = UUID()
    #expect(try await scene.report(id: id) == .noted(answer: #"{"days": 1}"#))
    #expect(try await scene.report(id: id) == .repeated(answer: #"{"days": 1}"#))
    #expect(try await scene.report("OTHER", id: UUID()) == .noted(answer: #"{"days": 2}"#))
    #expect(try await scene.database.sql("select count(*) from calls") == "2")
    let actions = try await scene.database.sql(
      "select user_id, action, day, extract(epoch from moment)::int from actions order by action")
    let user = scene.user.text
    #expect(actions == "\(user)|DID_THIS|2026-11-22|1795330800\n\(user)|OTHER|2026-11-22|1795330800")
    let events = try await scene.database.sql("select code, identifier from tacet.notif_events order by code")
    #expect(events == "DID_THIS|ritual.0800.2026-11-22\nOTHER|ritual.0800.2026-11-22")
  }

  @Test("an action of a notification opens its push, and the one that it was snoozed to")
  func opens() async throws {
    let scene = try await SlotReportScene()
    try await scene.push()
    _ = try await scene.report("SNOOZE_30", id: UUID())
    #expect(try await scene.opened() == "row\nsnooze ritual.0800")
  }

  @Test(
    "as many reports of a user are kept as may be; the next is refused, and a repeated one is answered", .uuidsOnly)
  func enough() async throws {
    let scene = try await SlotReportScene()
    let id = UUID()
    _ = try await scene.report(id: id)
    try await scene.database.sql(
      """
      insert into tacet.notif_events (happened_at, id, user_id, code)
      select now(), gen_random_uuid(), '\(scene.user)', 'armed' from generate_series(1, 4999)
      """)
    #expect(try await scene.report(id: UUID()) == .tooMany)
    #expect(try await scene.report(id: id) == .repeated(answer: #"{"days": 1}"#))
    #expect(try await scene.report([SlotReportScene.event(.armed)]) == nil)
    #expect(try await scene.database.sql("select count(*) from tacet.notif_events") == "5000")
    #expect(try await scene.report([SlotReportScene.event(.armed)], of: scene.chat.readers[1]) == 1)
  }

  @Test("an id is of one report, and a repeated one is answered when the row is pruned")
  func other() async throws {
    let scene = try await SlotReportScene()
    let (id, event) = (UUID(), UUID())
    _ = try await scene.report(id: id)
    #expect(try await scene.report("OTHER", id: id) == .otherReport)
    try await scene.report([SlotReportScene.event(.delivered, id: event)])
    #expect(try await scene.report(id: event) == .otherReport)
    try await scene.database.sql("delete from tacet.notif_deliveries")
    #expect(try await scene.report(id: id) == .repeated(answer: #"{"days": 1}"#))
    #expect(try await scene.database.sql("select count(*) from calls") == "1")
  }

  @Test("what is no row of the user changes nothing")
  func unknown() async throws {
    let scene = try await SlotReportScene()
    for text in ["ritual.0801.2026-11-22", "ritual.0800.2026-11-23", "coach.0800.2026-11-22"] {
      let row = try #require(SlotIdentifier(text))
      #expect(try await scene.report(id: UUID(), row: row) == .unknownRow, "\(text)")
    }
    #expect(try await scene.report(id: UUID(), of: scene.chat.readers[1]) == .unknownRow)
    let counts = "select (select count(*) from calls), (select count(*) from tacet.notif_events)"
    #expect(try await scene.database.sql(counts) == "0|0")
  }

  @Test("a campaign without a function notes the action; a failing function leaves nothing noted")
  func functions() async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql("update tacet.campaigns set on_action = 'public.missing'")
    await #expect(throws: PostgresError.self) { _ = try await scene.report(id: UUID()) }
    #expect(try await scene.database.sql("select count(*) from tacet.notif_events") == "0")
    try await scene.database.sql("update tacet.campaigns set on_action = null")
    #expect(try await scene.report(id: UUID()) == .noted(answer: "{}"))
  }

  @Test("two connections that report one id call the function once")
  func atOnce() async throws {
    let scene = try await SlotReportScene()
    let call = """
      tacet.report_slot_action('\(scene.user)', '\(UUID())', 'DID_THIS', 'ritual.0800.2026-11-22', 'ritual', '0800',
        '2026-11-22', now())
      """
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin; select \(call)", on: reactor)
      let later = Begun.begin(on: reactor) {
        try await second.rows("select r.outcome, r.answer from \(call) r", on: reactor)
      }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == #"(repeated,"{""days"": 1}")"#)
    }
    #expect(try await scene.database.sql("select count(*) from calls") == "1")
  }

  @Test(
    "an identifier is of three parts",
    arguments: [
      ("ritual.0800.2026-11-22", true), ("r.0000.2026-02-28", true), ("r.2359.2028-02-29", true),
      ("ritual.2400.2026-11-22", false), ("ritual.0860.2026-11-22", false), ("ritual.800.2026-11-22", false),
      ("ritual.08:00.2026-11-22", false), ("ritual.0800.2026-02-29", false), ("ritual.0800.26-11-22", false),
      ("Ritual.0800.2026-11-22", false), (".0800.2026-11-22", false), ("ritual.0800.2026-11-22.x", false),
      ("ritual.0800", false), ("a.b.0800.2026-11-22", false), ("", false), ("ritual.0800.2026-11-22\n", false),
      ("ritual.0８00.2026-11-22", false),
    ])
  func identifiers(text: String, isOne: Bool) {
    #expect((SlotIdentifier(text)?.text == text) == isOne)
  }
}
