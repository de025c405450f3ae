import PushRules

/// The latest burst of messages to one recipient in one conversation: a push with sound, and what followed within the window.
///
/// Times are microseconds since 1970. `tacet.fold_messages` keeps bursts in `tacet.bursts` by the same rules, behind a lock;
/// this is the model that they are compared with.
struct MessageBurst: Equatable, Sendable {
  /// Messages that are counted; further ones add nothing.
  static let membersMax = 100

  /// The message whose push sounded. Its pushes and those of the others have its collapse identifier.
  private(set) var first: BurstMessage

  /// When the sound was reserved.
  private(set) var soundedAt: Int64

  /// Whether it began with a mention within the window of another sound.
  private(set) var isMention = false

  /// The message whose push was handed over last.
  private(set) var latest: BurstMessage

  /// When the newest message was committed that has asked.
  private var newestAt: Int64

  /// When the next update goes; nil while none is planned.
  private(set) var updateAt: Int64?

  /// The ids of its messages since the recipient last looked.
  private(set) var members: Set<String>

  /// Those of them that the newest update has counted.
  private var told: Set<String> = []

  /// The ids that updates of the bursts before have counted.
  private var countedBefore: [String] = []

  /// Messages besides the one that is shown.
  var more: Int { max(0, members.count - 1) }

  init(_ message: BurstMessage, at now: Int64) {
    first = message
    soundedAt = now
    latest = message
    newestAt = message.enqueuedAt
    members = [message.id]
  }
}

/// A message, in the order of a conversation: by its commit, then by its id.
struct BurstMessage: Hashable, Comparable, Sendable {
  /// When it was committed.
  let enqueuedAt: Int64
  let id: String

  static func < (one: Self, other: Self) -> Bool { (one.enqueuedAt, one.id) < (other.enqueuedAt, other.id) }
}

/// What the ledger says of the push that was handed over last.
enum HandedOverPush: String, CaseIterable, Sendable {
  /// Nothing since it was handed over: it is in flight, or its process has died.
  case inFlight = "in_flight"
  case sent
  /// It was put off, and asks again.
  case waits
  /// It was skipped, or has failed for good.
  case gone
}

extension FoldPolicy {
  /// Decides a message that the suppression rules let go, and keeps the burst's books.
  ///
  /// What is on the screen never becomes older: pushes with one collapse identifier may overtake each other, so an update
  /// goes only when the push before it is recorded.
  /// - Parameters:
  ///   - now: when it is decided. lookedAt: when the recipient last looked at the conversation.
  ///   - isNewest: whether no newer message of the conversation is decided together with it, after it.
  ///   - latest: the state of the push that was handed over last.
  ///   - burst: nil before the first message.
  func decide(
    _ message: BurstMessage, at now: Int64, isMentioned: Bool = false, lookedAt: Int64? = nil, isNewest: Bool = true,
    latest: HandedOverPush, of burst: inout MessageBurst?
  ) -> FoldDecision {
    guard var known = burst else {
      burst = MessageBurst(message, at: now)
      return .sound
    }
    let decision = known.decide(
      message, at: now, isMentioned: isMentioned, lookedAt: lookedAt, isNewest: isNewest, latest: latest,
      settle: settle.microseconds, window: window.microseconds)
    burst = known
    return decision
  }
}

extension MessageBurst {
  fileprivate mutating func decide(
    _ message: BurstMessage, at now: Int64, isMentioned: Bool, lookedAt: Int64?, isNewest: Bool,
    latest state: HandedOverPush,
    settle: Int64, window: Int64
  ) -> FoldDecision {
    let end = soundedAt + window
    newestAt = max(newestAt, message.enqueuedAt)
    if message == latest { return again(message, at: now, isOver: now >= end) }
    if isMentioned, message < latest || now < end, !members.contains(message.id) {
      // Behind a newer message it sounds beside the burst, whose notification shows that.
      if message < latest { return .sound }
      begin(message, at: now)
      isMention = true
      return .sound
    }
    if message < latest, state != .gone {
      if state == .sent {
        add(message, lookedAt, unless: countedBefore)
        return .fold
      }
      // The newer one says more, so it has another window to be decided in.
      let patientUntil = now < end ? end : end + window
      if now < patientUntil {
        add(message, lookedAt, unless: countedBefore)
        return .wait(until: state == .waits ? patientUntil : min(now + settle, patientUntil))
      }
    }
    let isFirstPutOff = latest == first && state == .waits
    if now >= end || !isMention && (isFirstPutOff || latest == first && state == .gone) {
      begin(message, at: now)
      return .sound
    }
    add(message, lookedAt)
    let isFree = state != .inFlight && !isFirstPutOff
    return follow(message, at: now, isFree: isFree, isNewest: isNewest, settle: settle, end: end)
  }

  /// The push that was handed over last asks again, because it was put off, or its process died.
  private mutating func again(_ message: BurstMessage, at now: Int64, isOver: Bool) -> FoldDecision {
    if isOver {
      begin(message, at: now)
    } else if message == first {
      soundedAt = now
    } else {
      return .update
    }
    return .sound
  }

  private mutating func begin(_ message: BurstMessage, at now: Int64) {
    let counted = Array((told + countedBefore).prefix(Self.membersMax))
    self = MessageBurst(message, at: now)
    countedBefore = counted
  }

  private mutating func follow(
    _ message: BurstMessage, at now: Int64, isFree: Bool, isNewest: Bool, settle: Int64, end: Int64
  ) -> FoldDecision {
    let isDue = updateAt.map { $0 <= now } ?? false
    // Rather now than with a sound after the window.
    if isFree, isDue || end - now <= settle {
      // A newer one takes it, or has had a moment to.
      let isPatient = end - now > settle && updateAt.map { $0 + settle > now } ?? false
      guard isNewest, message.enqueuedAt == newestAt || !isPatient else { return .wait(until: min(now + settle, end)) }
      latest = message
      updateAt = nil
      told = members
      return .update
    }
    let due = updateAt.flatMap { $0 > now ? $0 : nil } ?? min(now + settle, end)
    updateAt = due
    return .wait(until: due)
  }

  /// Counts a message, unless an update of a burst before has. What the recipient has seen counts no more.
  private mutating func add(_ message: BurstMessage, _ lookedAt: Int64?, unless counted: [String] = []) {
    if let lookedAt, lookedAt > latest.enqueuedAt {
      members = []
      told = []
    }
    if members.count < Self.membersMax, !counted.contains(message.id) { members.insert(message.id) }
  }
}

extension Duration {
  fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
