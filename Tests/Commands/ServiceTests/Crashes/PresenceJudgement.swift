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
