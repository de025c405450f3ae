/// How long bursts of messages last.
package struct FoldPolicy: Equatable, Sendable {
  /// From a sound on, how long nothing but a mention sounds; the end is exclusive.
  package let window: Duration

  /// A policy; the window is positive.
  package init(window: Duration) {
    precondition(window > .zero, "without a window nothing folds")
    self.window = window
  }
}

/// A message, in the order of a conversation: by its commit, then by its id.
package struct BurstMessage: Hashable, Comparable, Sendable {
  /// By the database's clock; microseconds since 1970.
  package let enqueuedAt: Int64
  package let id: HostID

  package init(enqueuedAt: Int64, id: HostID) {
    self.enqueuedAt = enqueuedAt
    self.id = id
  }

  package static func == (one: Self, other: Self) -> Bool { one.id == other.id }

  package func hash(into hasher: inout Hasher) { hasher.combine(id) }

  package static func < (one: Self, other: Self) -> Bool {
    one.enqueuedAt == other.enqueuedAt ? one.id.text < other.id.text : one.enqueuedAt < other.enqueuedAt
  }
}

/// A message that may be pushed to one recipient.
package struct BurstCandidate: Equatable, Sendable {
  package let message: BurstMessage
  package let isMentioned: Bool
  /// When the recipient last looked at the conversation, by the database's clock; nil for unknown.
  package let lookedAt: Int64?
  /// When it is decided, by the database's clock.
  package let decidedAt: Int64
  /// Whether it was put off, and is of the burst of that later time. Else it is of that of its commit, whenever it is decided, so that
  /// another owner comes to the same burst.
  package let isPutOff: Bool

  package init(
    _ message: BurstMessage, decidedAt: Int64, isPutOff: Bool = false, isMentioned: Bool = false, lookedAt: Int64? = nil
  ) {
    self.message = message
    self.decidedAt = decidedAt
    self.isPutOff = isPutOff
    self.isMentioned = isMentioned
    self.lookedAt = lookedAt
  }

  fileprivate var at: Int64 { isPutOff ? decidedAt : message.enqueuedAt }
}

/// What a message does in its burst.
package enum FoldDecision: Equatable, Sendable {
  /// It goes with a sound, in the notification of its burst.
  case sound
  /// It replaces the burst's notification without a sound.
  case update
  /// An older message than the one shown, which mentions the recipient: it goes with a sound, in a notification of its own.
  case soundBeside
  /// A newer message is shown, which counts it.
  case fold
}

/// The latest burst of messages to one recipient in one conversation: a message, and what follows within the window. The
/// conversation's owner keeps it.
///
/// - The first push sounds. What follows updates its notification silently, at once.
/// - A mention begins another burst. So does the next message after the window.
/// - What is on the screen never becomes older. Pushes with one collapse identifier may overtake each other, so a push goes only
///   when the one before it has its answer. Of those that wait for it the newest goes, and the others fold into it.
/// - While nothing of the burst is shown, because its pushes were put off or have failed, the next one sounds.
/// - The collapse identifier is that of the burst's first message, whichever is shown. Which message begins a burst follows from
///   commits alone, so that another owner, who cannot know what was sent, replaces what is shown instead of showing it twice.
///
/// A value without a clock: times are the database's, in microseconds since 1970.
package struct MessageBurst: Sendable {
  /// Messages that are counted; further ones add nothing.
  package static let membersMax = 100

  /// The message that the burst begins with. Its notification is the burst's.
  package private(set) var first: BurstMessage

  /// The message whose notification takes what was handed over last: ``first``, but for a message that came before it, when the newest
  /// could not be shown, that of the burst before.
  package private(set) var place: BurstMessage

  /// The burst before.
  private var former: (first: BurstMessage, begunAt: Int64)?

  /// When the window began: with the newest push with a sound, and before that with the first message's commit.
  package private(set) var begunAt: Int64

  /// The newest message that a device shows; nil while none does.
  package private(set) var shown: BurstMessage?

  /// What was handed over and has no answer yet.
  package private(set) var inFlight: BurstMessage?

  /// The message that was last handed over with a sound.
  private var sounding: BurstMessage?

  /// The newest message that was handed over; before that the first.
  private var newest: BurstMessage

  /// Its messages since the recipient last looked.
  private var members: Set<HostID>

  /// Those of them that came after the last hand-over: no notification has counted them.
  private var untold: Set<HostID> = []

  /// How many more there are, from before this process owned the conversation.
  private var earlier = 0

  /// Those that the bursts before have counted.
  private var countedBefore: Set<HostID> = []

  /// Messages besides the one that is shown.
  package var more: Int { max(0, min(members.count + earlier, Self.membersMax) - 1) }

  /// A burst of which more is to be ``learn(_:isShown:sounds:begunAt:more:)``ed.
  package init(first: BurstMessage, begunAt: Int64) {
    self.first = first
    self.begunAt = begunAt
    place = first
    newest = first
    members = [first.id]
  }

  /// What the ledger knows of a message that was handed over; the newest comes last.
  /// - Parameter more: messages besides this one.
  package mutating func learn(_ message: BurstMessage, isShown: Bool, sounds: Bool, begunAt: Int64, more: Int) {
    newest = max(newest, message)
    members = [message.id]
    earlier = more
    self.begunAt = max(self.begunAt, begunAt)
    if sounds { sounding = message }
    if isShown { shown = message }
  }

  fileprivate init(_ candidate: BurstCandidate, after former: MessageBurst?) {
    first = candidate.message
    place = candidate.message
    newest = candidate.message
    self.former = former.map { ($0.first, $0.begunAt) }
    begunAt = candidate.at
    members = former?.untold ?? []
    members.insert(candidate.message.id)
    untold = members
    if let former {
      let told = former.members.subtracting(former.untold)
      countedBefore = told.union(former.countedBefore.prefix(Self.membersMax - told.count))
    }
  }

  /// What was in flight has its answer.
  /// - Parameter isShown: whether a device shows it; else it is tried again later, or has failed.
  package mutating func answered(_ message: BurstMessage, isShown: Bool) {
    guard message == inFlight else { return }
    inFlight = nil
    if isShown { shown = max(shown ?? message, message) }
  }
}

extension FoldPolicy {
  /// Decides those of the messages that need not wait for an answer, takes them out, and keeps the burst's books.
  /// - Parameters:
  ///   - candidates: what the suppression rules let go, in any order; what is left waits.
  ///   - burst: nil before the first message.
  package func decide(
    _ candidates: inout [BurstCandidate], of burst: inout MessageBurst?
  ) -> [(message: BurstMessage, decision: FoldDecision)] {
    guard !candidates.isEmpty, burst?.inFlight == nil else { return [] }
    var decisions: [(message: BurstMessage, decision: FoldDecision)] = []
    if var known = burst, let shown = known.shown {
      candidates.removeAll { candidate in
        guard candidate.message < shown else { return false }
        decisions.append((candidate.message, known.settle(candidate)))
        return true
      }
      burst = known
    }
    candidates.sort { $0.message < $1.message }
    for candidate in candidates {
      if burst?.add(candidate, window: window.wholeMicroseconds) != true {
        burst = MessageBurst(candidate, after: burst)
      }
    }
    if let lead = candidates.popLast(), let decision = burst?.handOver(lead) {
      decisions.append((lead.message, decision))
    }
    return decisions
  }
}

extension MessageBurst {
  /// A message that is older than the one shown.
  fileprivate mutating func settle(_ candidate: BurstCandidate) -> FoldDecision {
    let id = candidate.message.id
    let isNew = !members.contains(id) && !countedBefore.contains(id)
    if isNew, members.count < Self.membersMax { members.insert(id) }
    return candidate.isMentioned && isNew ? .soundBeside : .fold
  }

  /// Takes a message in, newer ones after older ones; false when it begins another burst.
  fileprivate mutating func add(_ candidate: BurstCandidate, window: Int64) -> Bool {
    let id = candidate.message.id
    if members.contains(id) || candidate.message == first || candidate.message == newest { return true }
    guard candidate.at < begunAt + window, !candidate.isMentioned else { return false }
    // What the recipient has seen counts no more.
    if let lookedAt = candidate.lookedAt, lookedAt > newest.enqueuedAt {
      members = []
      untold = []
      earlier = 0
    }
    if members.count < Self.membersMax {
      members.insert(id)
      untold.insert(id)
    }
    return true
  }

  fileprivate mutating func handOver(_ lead: BurstCandidate) -> FoldDecision {
    newest = max(newest, lead.message)
    inFlight = lead.message
    place = former.flatMap { lead.message < first && lead.at >= $0.begunAt ? $0.first : nil } ?? first
    untold = []
    guard shown == nil || lead.message == sounding else { return .update }
    sounding = lead.message
    begunAt = max(begunAt, lead.decidedAt)
    return .sound
  }
}
