internal import HeapModule
internal import PushKinds

/// Counts the pushes that sound and the silent ones, where the followers of a burst are folded.
///
/// The first push of a conversation to a recipient sounds. What follows within the window is silent, unless it mentions the
/// recipient. A push that sounds begins a new window. Pushes come in the order of their commits; held ones go out later, and
/// wait here until no earlier one can come.
struct BurstCount {
  /// Whose bursts.
  struct Key: Hashable {
    let userID: HostID
    let surface: String
  }

  private struct Push: Comparable {
    let at: Int64
    let key: Key
    let isMention: Bool
    let window: Int64

    static func < (one: Push, other: Push) -> Bool { one.at < other.at }
    static func == (one: Push, other: Push) -> Bool { one.at == other.at }
  }

  /// Windows that are kept before those that are over are forgotten.
  private static let windowsKept = 4096

  private var waiting = Heap<Push>()
  private var windows: [Key: Int64] = [:]
  private var windowsMax = windowsKept

  /// With sound.
  private(set) var sounding = 0
  /// Silent updates of what is on the screen.
  private(set) var silent = 0

  /// Takes a push that goes out; microseconds, the moment since 1970.
  /// - Parameters:
  ///   - key: nil where the conversation is not recorded; such a push sounds.
  ///   - window: zero for no folding.
  mutating func add(_ key: Key?, at moment: Int64, isMention: Bool, window: Int64) {
    guard let key, window > 0 else {
      sounding += 1
      return
    }
    waiting.insert(Push(at: moment, key: key, isMention: isMention, window: window))
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
    guard windows.count > windowsMax else { return }
    windows = windows.filter { $0.value > moment }
    windowsMax = max(Self.windowsKept, 2 * windows.count)
  }

  private mutating func count(_ push: Push) {
    if !push.isMention, let end = windows[push.key], push.at < end {
      silent += 1
    } else {
      sounding += 1
      windows[push.key] = push.at + push.window
    }
  }
}
