import PushKinds
import PushRules
import Testing

@testable import Replay

@Suite("Bursts in a replay")
struct BurstCountTests {
  private static func key(_ user: String, _ surface: String = "c0ffee17") -> BurstCount.Key {
    BurstCount.Key(userID: HostID(text: user), surface: surface)
  }

  /// A message that is committed and pushed at the same time; microseconds.
  private static func message(_ at: Int64) -> BurstMessage { BurstMessage(enqueuedAt: at, id: "\(at)") }

  private static func add(
    _ at: Int64, _ key: BurstCount.Key? = key("1"), isMention: Bool = false, to bursts: inout BurstCount
  ) {
    bursts.add(message(at), of: key, at: at, isMention: isMention, window: 20_000_000)
  }

  @Test("the first sounds, what follows within the window is silent; the end of the window is exclusive")
  func window() {
    for (second, silent) in [(1, 1), (19_999_999, 1), (20_000_000, 0)] as [(Int64, Int)] {
      var bursts = BurstCount()
      for at in [0, second] { Self.add(at, to: &bursts) }
      bursts.advance(to: .max)
      #expect((bursts.sounding, bursts.silent) == (2 - silent, silent), "\(second)")
    }
  }

  @Test("a mention sounds, and begins a new window; a silent push begins none")
  func mention() {
    var bursts = BurstCount()
    for (second, isMention) in [(0, false), (10, false), (15, true), (21, false), (35, false), (40, false)]
      as [(Int64, Bool)]
    {
      Self.add(second * 1_000_000, isMention: isMention, to: &bursts)
    }
    bursts.advance(to: .max)
    #expect((bursts.sounding, bursts.silent) == (3, 3))
  }

  @Test("pushes count in the order in which they go out, and only with those of their conversation and recipient")
  func order() {
    var bursts = BurstCount()
    Self.add(100_000_000, to: &bursts)
    bursts.advance(to: 1)
    Self.add(1, to: &bursts)
    Self.add(2, Self.key("2"), to: &bursts)
    Self.add(3, Self.key("1", "other"), to: &bursts)
    Self.add(19_000_000, to: &bursts)
    bursts.advance(to: .max)
    #expect((bursts.sounding, bursts.silent) == (4, 1))
  }

  @Test(
    "of three within a second the newest is shown; all but the first are silent, also those that wait for an update")
  func folded() {
    var bursts = BurstCount()
    for at in [0, 100, 200, 300] as [Int64] { Self.add(at, to: &bursts) }
    bursts.advance(to: 300_000)
    #expect((bursts.sounding, bursts.silent) == (1, 0))
    bursts.advance(to: .max)
    #expect((bursts.sounding, bursts.silent) == (1, 3))
  }

  @Test("without a window or a known conversation every push sounds")
  func unknown() {
    var bursts = BurstCount()
    for _ in 0..<2 {
      Self.add(1, nil, to: &bursts)
      bursts.add(Self.message(1), of: Self.key("1"), at: 1, isMention: false, window: 0)
    }
    #expect((bursts.sounding, bursts.silent) == (4, 0))
  }
}
