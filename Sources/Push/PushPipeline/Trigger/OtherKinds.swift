internal import Reactors

/// Whether events of other kinds than messages abound, as those of a campaign do that has its hour, and which work a pipeline
/// takes meanwhile: a message does not wait for them.
///
/// A value: time comes in as monotonic nanoseconds.
struct OtherKinds {
  /// What a pipeline takes while events of other kinds abound.
  enum Share {
    /// Everything, because it is alone: messages first, then a few of the others.
    case everything
    /// Messages, and seldom a few of the others, because other pipelines of the process help.
    case messages
    /// The others, many at a time, and messages that nobody has taken for a while.
    case others
  }

  /// Events that a look of a pipeline that takes messages too may bring meanwhile: a message waits for no more than these.
  static let perLook = 16

  /// Events that a look of a pipeline that helps may bring meanwhile.
  static let perLookOfHelper = 64

  /// For how long events abound after a look that has brought ``perLook``, or after looks within as long that have brought as
  /// many together.
  static let interval = Duration.seconds(1)

  let share: Share
  private var aboundAt: UInt64?
  private var spanBegunAt: UInt64 = 0
  private var spanCount = 0

  init(_ share: Share) {
    self.share = share
  }

  func abound(now: UInt64) -> Bool {
    aboundAt.map { now &- $0 < Self.interval.clampedNanoseconds } ?? false
  }

  func isLeftToOthers(now: UInt64) -> Bool { share == .messages && abound(now: now) }

  func leavesMessages(now: UInt64) -> Bool { share == .others && abound(now: now) }

  /// How many events a look may bring; nil for as many as any look.
  func eventsPerLook(now: UInt64) -> Int? {
    guard abound(now: now) else { return nil }
    return share == .others ? Self.perLookOfHelper : Self.perLook
  }

  /// A look for everything has brought so many events of other kinds.
  mutating func found(_ count: Int, now: UInt64) {
    if now &- spanBegunAt >= Self.interval.clampedNanoseconds { (spanBegunAt, spanCount) = (now, 0) }
    spanCount += count
    if count >= Self.perLook || (abound(now: now) && spanCount >= Self.perLook) { aboundAt = now }
  }
}
