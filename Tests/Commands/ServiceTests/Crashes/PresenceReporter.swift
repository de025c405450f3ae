import Foundation
import Simulators
import TestPostgres

/// Reports every now and then that those who look are looking. Has a thread of its own.
final class PresenceReporter {
  /// A quarter of the window.
  private static let pause: UInt32 = 700_000

  /// Every report once more, to see at the end that the database kept them.
  static let table = "create table reported (user_id uuid, seen_at bigint)"

  private let scene: ServiceScene
  private let book: HostBook
  private let statement: String

  init(_ scene: ServiceScene, _ book: HostBook, _ rooms: HostRooms) {
    self.scene = scene
    self.book = book
    let users = rooms.watched.flatMap(\.recipients).filter { $0.situation == .looking }.map { "'\($0.user)'" }
    statement = """
      with seen as (
        update conversation_participants set last_seen = now() where user_id in (\(users.joined(separator: ", ")))
        returning user_id, last_seen
      )
      insert into reported (user_id, seen_at)
      select user_id, (extract(epoch from last_seen) * 1000000)::bigint from seen returning user_id, seen_at;
      """
  }

  func run(until end: Int64) {
    var session: PsqlSession?
    while SimulationClock.wall.microseconds < end {
      do {
        let open = try session ?? PsqlSession(scene.conninfo)
        session = open
        note(try open.run(statement))
      } catch {
        book.note(error)
        session = nil
      }
      usleep(Self.pause)
    }
  }

  private func note(_ rows: String) {
    let now = SimulationClock.wall.microseconds
    for row in rows.split(separator: "\n") {
      let columns = row.split(separator: "|")
      guard columns.count == 2, let seenAt = Int64(columns[1]) else { continue }
      book.note(PresenceReport(user: String(columns[0]), seenAt: seenAt, acknowledgedAt: now))
    }
  }
}
