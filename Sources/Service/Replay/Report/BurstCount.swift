internal import HeapModule
internal import PushKinds
internal import PushRules

/// Counts the pushes that sound and the silent ones, where the followers of a burst are folded as ``FoldPolicy`` says. What only a
/// newer push shows counts as silent.
///
/// Pushes come in the order of their commits. Held ones go out later, and wait here until no earlier one can come.
struct BurstCount {
  /// Whose bursts.
  struct Key: Hashable {
    let userID: HostID
    let surface: String
  }

  private struct Push: Comparable {
    let at: Int64
    let message: BurstMessage
    let key: Key
    let isMention: Bool
    let window: Int64

    static func < (one: Push, other: Push) -> Bool { (one.at, one.message) < (other.at, other.message) }
    static func == (one: Push, other: Push) -> Bool { (one.at, one.message) == (other.at, other.message) }
  }

  /// Bursts that are kept before those that are over are forgotten.
  private static let burstsKept = 4096

  private var waiting = Heap<Push>()
  private var bursts: [Key: (burst: MessageBurst, end: Int64)] = [:]
  private var burstsMax = burstsKept

  /// With sound.
  private(set) var sounding = 0
  /// Silent updates of what is on the screen.
  private(set) var silent = 0

  /// Takes a push that goes out; microseconds, the moment since 1970.
  /// - Parameters:
  ///   - key: nil where the conversation is not recorded; such a push sounds.
  ///   - window: zero for no folding.
  mutating func add(_ message: BurstMessage, of key: Key?, at moment: Int64, isMention: Bool, window: Int64) {
    guard let key, window > 0 else {
      sounding += 1
      return
    }
    waiting.insert(Push(at: moment, message: message, key: key, isMention: isMention, window: window))
  }

  /// Counts a push whose kind folds as it did.
  mutating func add(asRecorded sounds: Bool) {
    if sounds { sounding += 1 } else { silent += 1 }
  }

  /// Counts what goes out before a moment, as no earlier push comes any more.
  mutating func advance(to moment: Int64) {
    while let push = waiting.min, push.at < moment {
      waiting.removeMin()
      count(push)
    }
    guard bursts.count > burstsMax else { return }
    bursts = bursts.filter { $0.value.end > moment }
    burstsMax = max(Self.burstsKept, 2 * bursts.count)
  }

  /// Every push before is taken for one that reached its device.
  private mutating func count(_ push: Push) {
    var burst = bursts[push.key]?.burst
    let decision = FoldPolicy(window: .microseconds(push.window))
      .decide(push.message, at: push.at, isMentioned: push.isMention, latest: .sent, of: &burst)
    switch decision {
    case .sound: sounding += 1
    case .update, .fold: silent += 1
    case .wait(let time):
      waiting.insert(
        Push(at: time, message: push.message, key: push.key, isMention: push.isMention, window: push.window))
    }
    bursts[push.key] = burst.map { ($0, $0.soundedAt + push.window) }
  }
}
