import Testing

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
