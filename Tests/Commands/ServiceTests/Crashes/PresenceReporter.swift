import Foundation
import Simulators
import TestPostgres
import Testing

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

/// Whether somebody who reports that they look may have been taken for absent. Times are microseconds since 1970.
///
/// It knows only what was certainly in the database: a report counts from the moment its commit was acknowledged. What
/// it refuses is therefore certainly wrong; what it allows may have been luck.
struct PresenceJudgement {
  /// In the order of their times.
  let reports: [PresenceReport]
  let windowMicroseconds: Int64
  /// How far what a claim sees may lie from the time it notes: it notes one moment, sees the tables as of another, and
  /// may measure ages at a third.
  var claimMicroseconds: Int64 = 0

  /// Whether a claim at this moment may send.
  func mayBeAbsent(messageAt: Int64, claimedAt: Int64) -> Bool {
    guard let seenAt = known(at: claimedAt).map(\.seenAt).max() else { return true }
    return seenAt <= messageAt && claimedAt + claimMicroseconds - seenAt >= windowMicroseconds
  }

  private func known(at claimedAt: Int64) -> [PresenceReport] {
    reports.filter { $0.acknowledgedAt <= claimedAt - claimMicroseconds }
  }

  /// Whether some claim between the message and the push's arrival may have sent it. The longest time without a report
  /// ends just before the next is seen.
  func mayHaveBeenAbsent(messageAt: Int64, arrivedAt: Int64) -> Bool {
    let ends = reports.map { $0.acknowledgedAt + claimMicroseconds - 1 }.filter { messageAt <= $0 && $0 < arrivedAt }
    return (ends + [arrivedAt]).contains { mayBeAbsent(messageAt: messageAt, claimedAt: $0) }
  }
}

@Suite("Whether somebody who looks may have been taken for absent")
struct PresenceJudgementTests {
  /// Reports acknowledged 100 after they were made, and a window of 3000.
  private func judgement(_ seenAt: Int64...) -> PresenceJudgement {
    PresenceJudgement(
      reports: seenAt.map { PresenceReport(user: "u", seenAt: $0, acknowledgedAt: $0 + 100) }, windowMicroseconds: 3000)
  }

  @Test(
    "a claim may send when no report is known, or the last known is before the message and one window old",
    arguments: [
      // Nothing reported, or not yet acknowledged.
      ([], 5000, 6000, true), ([5900], 5000, 5999, true),
      // Before the message: both sides of the window's end.
      ([1000], 2000, 3999, false), ([1000], 2000, 4000, true),
      // After the message: never.
      ([2001], 2000, 2101, false), ([2001], 2000, 90_000, false), ([2000], 2000, 5000, true),
      // The last one counts.
      ([1000, 1500], 2000, 4400, false), ([1000, 1500], 2000, 4500, true),
    ] as [([Int64], Int64, Int64, Bool)])
  func claims(_ seenAt: [Int64], _ messageAt: Int64, _ claimedAt: Int64, _ mayBeAbsent: Bool) {
    let reports = seenAt.map { PresenceReport(user: "u", seenAt: $0, acknowledgedAt: $0 + 100) }
    let judgement = PresenceJudgement(reports: reports, windowMicroseconds: 3000)
    #expect(judgement.mayBeAbsent(messageAt: messageAt, claimedAt: claimedAt) == mayBeAbsent)
  }

  @Test("a push is right if any claim between its message and its arrival was")
  func arrivals() {
    // The report of 1000 ends at 4000; that of 4500 is known from 4600 on.
    let judgement = judgement(1000, 4500)
    #expect(!judgement.mayHaveBeenAbsent(messageAt: 2000, arrivedAt: 3999))
    #expect(judgement.mayHaveBeenAbsent(messageAt: 2000, arrivedAt: 4000))
    #expect(judgement.mayHaveBeenAbsent(messageAt: 2000, arrivedAt: 90_000))
    // With the next report in time there is no such claim, however late the push.
    #expect(!self.judgement(1000, 3800).mayHaveBeenAbsent(messageAt: 2000, arrivedAt: 90_000))
  }

  @Test("what a claim saw and measured may be a little older or younger than the time it noted")
  func slack() {
    var judgement = judgement(1000)
    judgement.claimMicroseconds = 500
    #expect(!judgement.mayBeAbsent(messageAt: 2000, claimedAt: 3499))
    #expect(judgement.mayBeAbsent(messageAt: 2000, claimedAt: 3500))
    // Acknowledged at 1100: after the message, and known for certain from 1600 on.
    #expect(judgement.mayBeAbsent(messageAt: 900, claimedAt: 1599))
    #expect(!judgement.mayBeAbsent(messageAt: 900, claimedAt: 1600))
  }
}
