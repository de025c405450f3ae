import Reactors
import Testing

@testable import PushStore

@Suite("Commits of rows of slots")
struct SlotCommitTests {
  /// The commit of the scene's row, and what is left: pushes, those that the row names, the row, devices that are left out.
  private static func commit(_ scene: SlotReportScene) -> String {
    """
    (select count(*) from tacet.commit_slot_rows('ritual', 'auto', '{\(scene.user)}', '{0800}', '{2026-11-22}',
      array(select fire_at from tacet.notif_deliveries), '{0}', array[null], '{A}', '{B}', '{C}', array['{}']))
    """
  }

  private static let left = """
    select count(p), count(*) filter (where p.id = d.push_id), min(d.status), min(p.excluded_devices)
    from tacet.notif_deliveries d left join tacet.pushes p on p.campaign = d.campaign
    """

  @Test(
    "a commit that waits for another change of its row sees the row as it is then",
    arguments: [
      ("update tacet.notif_deliveries set armed_by = '{bb}'", "1", "1|1|sent|bb"),
      ("update tacet.notif_deliveries set title = 'New'", "1", "1|1|sent|"),
      ("update tacet.notif_deliveries set attempts = 1", "0", "0|0|scheduled|"),
      ("update tacet.notif_deliveries set status = 'cancelled'", "0", "0|0|cancelled|"),
      ("select tacet.move_slots('ritual', user_id, 'Asia/Tokyo', 0) from tacet.slots", "0", "0|0|scheduled|"),
      (
        "select tacet.choose_slots('ritual', user_id, false, '[{\"slot\": \"0800\", \"is_enabled\": true}]', 'UTC', 0) from tacet.slots",
        "0",
        "0|0|cancelled|"
      ),
      ("select tacet.leave_slots('ritual', user_id) from tacet.slots", "0", "0|0|cancelled|"),
      ("delete from tacet.notif_deliveries where slot = '0800'", "0", "0|0||"),
    ])
  func waiting(change: String, committed: String, left: String) async throws {
    let scene = try await SlotReportScene()
    try await withTwoSessions(scene.chat.database) { first, second, reactor in
      try await first.run("begin; \(change)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(Self.commit(scene), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      let answer = try await later.value(on: reactor)
      #expect(answer == committed)
    }
    let found = try await scene.database.sql(Self.left)
    #expect(found == left)
  }

  @Test(
    "a row whose slot is off or gone is cancelled, however it came to be",
    arguments: [
      "update tacet.slots set is_on = false", "update tacet.slots set is_enabled = false", "delete from tacet.slots",
      "update tacet.slots set slot = '0801'", "update tacet.slots set phase = 'morning'",
      "update tacet.slots set weekdays = '{1,2,3,4,5,6}'", "update tacet.slots set next_fire_at = null",
    ])
  func off(change: String) async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql(change)
    #expect(try await scene.database.sql("select \(Self.commit(scene))") == "1")
    #expect(try await scene.database.sql(Self.left) == "0|0|cancelled|")
    #expect(try await scene.database.sql("select reason from tacet.notif_deliveries") == "switched_off")
  }

  @Test("of two commits at once one queues the push")
  func atOnce() async throws {
    let scene = try await SlotReportScene()
    try await withTwoSessions(scene.chat.database) { first, second, reactor in
      try await first.run("begin; select \(Self.commit(scene))", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(Self.commit(scene), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == "0")
    }
    #expect(try await scene.database.sql(Self.left) == "1|1|sent|")
  }
}
