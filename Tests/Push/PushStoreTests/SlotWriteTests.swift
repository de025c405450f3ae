import PushRules
import Reactors
import Testing

@testable import PushStore

@Suite("Slots that change while they are rendered")
struct SlotWriteTests {
  /// A user with a slot under a claim, whose row is not written yet.
  private struct Scene {
    let reports: SlotReportScene
    var database: TestDatabase { reports.database }
    var user: HostID { reports.user }

    init() async throws {
      reports = try await SlotReportScene()
      try await database.sql("delete from tacet.notif_deliveries; update tacet.slots set attempts = 1")
    }

    /// Writes what was rendered: as the claim's, else as a window of the user.
    func write(asClaim: Bool) -> String {
      """
      (select count(*) from tacet.write_slot_rows('ritual', '{\(user)}', '{0800}', '{0}', '{1}', array[null], '{2026-11-22}',
        array[now() + interval '1 hour'], '{UTC}', array[null], '{A}', '{B}', '{C}', array['{}'], \(asClaim ? "0" : "null")))
      """
    }

    func choose(_ slot: String = "0800", isOn: Bool = true) -> String {
      """
      (select count(tacet.choose_slots('ritual', '\(user)', \(isOn), '[{"slot": "\(slot)", "is_enabled": true}]', 'UTC', 0)::text))
      """
    }

    /// The rows that are to be pushed, of the others that are cancelled, and whether the slot's next row comes after this one.
    func left() async throws -> String {
      try await database.sql(
        """
        select count(*) filter (where status = 'scheduled'), count(*) filter (where status = 'cancelled'),
          exists (select from tacet.slots where slot = '0800' and fire_date > '2026-11-22' and next_fire_at > now() + interval '1 hour')
        from tacet.notif_deliveries
        """)
    }
  }

  @Test("a row of the slot as it is, is written, by a claim once", arguments: [true, false])
  func unchanged(asClaim: Bool) async throws {
    let scene = try await Scene()
    #expect(try await scene.database.sql("select \(scene.write(asClaim: asClaim))") == "1")
    #expect(try await scene.left() == "1|0|\(asClaim ? "t" : "f")")
    try await scene.database.sql("delete from tacet.notif_deliveries; update tacet.slots set attempts = 2")
    #expect(try await scene.database.sql("select \(scene.write(asClaim: asClaim))") == (asClaim ? "0" : "1"))
  }

  @Test(
    "a row of a slot that was switched off, moved or left behind meanwhile is not written, nor does it come on a later day",
    arguments: ["off", "moved", "zone", "left"], [true, false])
  func changed(change: String, asClaim: Bool) async throws {
    let scene = try await Scene()
    let changes = [
      "off": "select \(scene.choose(isOn: false))", "moved": "select \(scene.choose("0815"))",
      "zone": "select tacet.move_slots('ritual', user_id, 'Asia/Tokyo', 0) from tacet.slots",
      "left": "select tacet.leave_slots('ritual', user_id) from tacet.slots",
    ]
    try await scene.database.sql(changes[change] ?? "")
    let before = try await scene.database.sql("select next_fire_at, fire_date, available_at from tacet.slots")
    #expect(try await scene.database.sql("select \(scene.write(asClaim: asClaim))") == "0")
    #expect(try await scene.left().hasPrefix("0|0|"))
    #expect(try await scene.database.sql("select next_fire_at, fire_date, available_at from tacet.slots") == before)
  }

  @Test(
    "a choice that is not committed yet keeps a write back, whichever of them began first", arguments: [true, false])
  func race(asClaim: Bool) async throws {
    for choosesFirst in [true, false] {
      let scene = try await Scene()
      let calls = [scene.choose(isOn: false), scene.write(asClaim: asClaim)]
      try await withTwoSessions(scene.database) { first, second, reactor in
        try await first.run("begin; select \(calls[choosesFirst ? 0 : 1])", on: reactor)
        let later = Begun.begin(on: reactor) { try await second.value(calls[choosesFirst ? 1 : 0], on: reactor) }
        // A batch passes over slots that are being changed.
        if !(asClaim && choosesFirst) { try await first.awaitBlocked(second, on: reactor) }
        if asClaim && choosesFirst { #expect(try await later.value(on: reactor) == "0") }
        try await first.run("commit", on: reactor)
        _ = try await later.value(on: reactor)
      }
      let left = try await scene.left()
      #expect(left.hasPrefix(choosesFirst ? "0|0|" : "0|1|"))
      #expect(try await scene.database.sql("select next_fire_at is null from tacet.slots") == "t")
    }
  }

  @Test("a slot that is chosen as it is keeps its next row, and what is being rendered counts")
  func same() async throws {
    let scene = try await Scene()
    try await scene.database.sql("update tacet.slots set is_chosen = true")
    let before = try await scene.database.sql("select version, next_fire_at, available_at from tacet.slots")
    try await scene.database.sql("select \(scene.choose())")
    #expect(try await scene.database.sql("select version, next_fire_at, available_at from tacet.slots") == before)
    #expect(try await scene.database.sql("select \(scene.write(asClaim: true))") == "1")
  }

  @Test("a choice by the zone that was read does not move slots back that have moved since")
  func movedBefore() async throws {
    let scene = try await Scene()
    try await scene.database.sql("select tacet.move_slots('ritual', user_id, 'Asia/Tokyo', 0) from tacet.slots")
    try await scene.database.sql("select \(scene.choose("0815"))")
    let slots =
      "select slot, time_zone, next_fire_at = (tacet.next_fire(slot, 'Asia/Tokyo', now())).fire_at from tacet.slots"
    #expect(try await scene.database.sql(slots) == "0815|Asia/Tokyo|t")
  }
}
