import Testing

@testable import PushPipeline

@Suite("Thorough looks")
struct ThoroughLooksTests {
  @Test(
    "what is due or left is looked for at once, new messages first for everything else",
    arguments: [
      (WakeCause.notify, true), (.webhook, true), (.poll, true), (.neighbour, true), (.due, false), (.start, false),
    ])
  func beginning(_ cause: WakeCause, _ beginsWithMessages: Bool) {
    #expect(ThoroughLooks().beginsWithMessages(after: cause) == beginsWithMessages)
  }

  @Test("the first look sees everything")
  func first() {
    #expect(ThoroughLooks().isDue(after: .poll, messagesFound: 9, now: 0))
  }

  @Test(
    "everything is seen every 20 ms, and 2 ms after the last time when a wake-up brought no message",
    arguments: [
      (WakeCause.poll, 0, 19, false), (.poll, 0, 20, true), (.poll, 1, 19, false), (.poll, 1, 20, true),
      (.notify, 1, 19, false), (.notify, 1, 20, true), (.notify, 0, 1, false), (.notify, 0, 2, true),
      (.webhook, 0, 1, false), (.webhook, 0, 2, true), (.neighbour, 0, 2, true),
    ] as [(WakeCause, Int, UInt64, Bool)])
  func pace(_ cause: WakeCause, _ found: Int, _ milliseconds: UInt64, _ isDue: Bool) {
    var looks = ThoroughLooks()
    looks.looked(at: 7)
    #expect(looks.isDue(after: cause, messagesFound: found, now: 7 + milliseconds * 1_000_000) == isDue)
  }
}
