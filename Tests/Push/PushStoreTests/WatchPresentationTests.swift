import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("How pushes of watched rows are shown, and when they are sent")
struct WatchPresentationTests {
  @Test("the texts of a presentation are templates; a row has its own time, life and key")
  func presentation() async throws {
    let scene = try await WatchScene.tasks(
      """
      presentation => '{"category": "TASK", "subtitle": "{note}", "thread_id": "{list_id}", "badge": 3}',
      send_at => 'done_at', expires_in => interval '1 hour', cancel_key => 'task:{id}'
      """)
    let later = HostID.new()
    try await scene.database.sql(
      """
      insert into tasks (id, list_id, by_id, note, done_at) values
        ('\(later)', '\(scene.list)', '\(scene.actor)', 'later', now() + interval '1 h'),
        ('\(HostID.new())', '\(scene.list)', '\(scene.actor)', 'Tea', now() - interval '90 s')
      """)
    let event = try #require(try await claim(scene.database).first)
    let shown = try #require(event.watchedRow?.presentation)
    #expect(shown.category == "TASK" && shown.subtitle == "Tea" && shown.badge == 3)
    #expect(shown.threadID == scene.list.text)
    let situation = try #require(event.recipients.first?.situation)
    #expect(situation.life == .seconds(3600) && !situation.isCancelled)
    #expect((.seconds(90)...(.seconds(90) + patience)).contains(situation.messageAge))
    #expect(try await scene.database.sql("select tacet.cancel_pushes('task:\(later.text)')") == "0")
    try await scene.database.sql("update tacet.inbox set available_at = now() where subject_id = '\(later)'")
    #expect(try await claim(scene.database).flatMap(\.recipients).map(\.situation.isCancelled) == [true])
  }

  @Test(
    "a presentation that no push can have is refused when the watch is made",
    arguments: [
      (#"presentation => '{"subtitel": "x"}'"#), (#"presentation => '{"badge": "1"}'"#), ("presentation => '[]'"),
      (#"presentation => '{"interruption_level": "loud"}'"#), (#"presentation => '{"subtitle": "{nothing}"}'"#),
      ("send_at => 'note'"), ("send_at => 'nothing'"), ("expires_in => interval '0'"),
      ("expires_in => interval '31 days'"), ("cancel_key => '{nothing}'"),
    ])
  func presentationRefused(argument: String) async throws {
    let scene = try await WatchScene.tasks()
    await #expect(throws: (any Error).self) { try await scene.watch(argument) }
  }
}
