import PushKinds
import Testing

@testable import Replay

@Suite("Bursts in a replay")
struct BurstCountTests {
  private static func key(_ user: String, _ surface: String = "c0ffee17") -> BurstCount.Key {
    BurstCount.Key(userID: HostID(text: user), surface: surface)
  }

  @Test("the first sounds, what follows within the window is silent; the end of the window is exclusive")
  func window() {
    for (second, silent) in [(1, 1), (19_999_999, 1), (20_000_000, 0)] as [(Int64, Int)] {
      var bursts = BurstCount()
      for at in [0, second] { bursts.add(Self.key("1"), at: at, isMention: false, window: 20_000_000) }
      bursts.advance(to: .max)
      #expect((bursts.sounding, bursts.silent) == (2 - silent, silent), "\(second)")
    }
  }

  @Test("a mention sounds, and begins a new window; a silent push begins none")
  func mention() {
    var bursts = BurstCount()
    for (at, isMention) in [(0, false), (10, false), (15, true), (21, false), (35, false), (40, false)]
      as [(Int64, Bool)]
    {
      bursts.add(Self.key("1"), at: at, isMention: isMention, window: 20)
    }
    bursts.advance(to: .max)
    #expect((bursts.sounding, bursts.silent) == (3, 3))
  }

  @Test("pushes count in the order in which they go out, and only with those of their conversation and recipient")
  func order() {
    var bursts = BurstCount()
    bursts.add(Self.key("1"), at: 100, isMention: false, window: 20)
    bursts.advance(to: 1)
    bursts.add(Self.key("1"), at: 1, isMention: false, window: 20)
    bursts.add(Self.key("2"), at: 2, isMention: false, window: 20)
    bursts.add(Self.key("1", "other"), at: 3, isMention: false, window: 20)
    bursts.add(Self.key("1"), at: 20, isMention: false, window: 20)
    bursts.advance(to: .max)
    #expect((bursts.sounding, bursts.silent) == (4, 1))
  }

  @Test("without a window or a known conversation every push sounds")
  func unknown() {
    var bursts = BurstCount()
    for _ in 0..<2 {
      bursts.add(nil, at: 1, isMention: false, window: 20)
      bursts.add(Self.key("1"), at: 1, isMention: false, window: 0)
    }
    #expect((bursts.sounding, bursts.silent) == (4, 0))
  }
}
