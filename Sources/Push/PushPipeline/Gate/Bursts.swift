internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// The bursts of the conversations that this pipeline owns.
///
/// A burst is known from its first message on, and forgotten some time after its window. What happened before this process owned the
/// conversation is in the ledger, which is asked once for each recipient.
struct BurstBook {
  struct Key: Hashable {
    let userID: HostID
    let conversationID: HostID
  }

  /// A message that may be pushed to one recipient.
  struct Request {
    let progress: EventProgress
    let index: Int
    let candidate: BurstCandidate
    /// In monotonic nanoseconds.
    let askedAt = Reactor.now
  }

  /// What a request comes to.
  struct Answer {
    let request: Request
    let decision: FoldDecision
    /// The message whose notification it goes into.
    let first: BurstMessage
    /// When the burst's window began; nil beside a burst.
    var begunAt: Int64?
    /// Messages of the burst besides this one.
    var more = 0
  }

  private struct Entry {
    let shard: Int32
    var burst: MessageBurst?
    var waiting: [Request] = []
    /// Whether the ledger has not told of it.
    var isUnknown = false
    var isBeingAsked = false
  }

  /// Beyond this many recipients whose conversations are busy nothing folds: a needless sound is better than memory without end.
  private static let entriesMax = 100_000

  /// For how long after its window a burst keeps what is older than the one shown from the screen.
  private static let grace = Duration.seconds(60)

  /// Between the end of a window and the moment at which no row of the ledger can tell of it: clocks and slow records.
  private static let ledgerMargin = Duration.seconds(10)

  private var entries: [Key: Entry] = [:]
  private var prunedAt: Int64 = 0

  /// Takes a request in; ``decide(_:by:)`` answers it.
  /// - Parameter ownedSince: since when the conversation is ours.
  /// - Returns: false when there is no room, so that it does not fold.
  mutating func add(_ request: Request, to key: Key, by policy: FoldPolicy, ownedSince: Int64) -> Bool {
    let now = request.candidate.decidedAt
    prune(at: now, policy)
    guard entries[key] != nil || entries.count < Self.entriesMax else { return false }
    let isUnknown = now - ownedSince < (policy.window + Self.ledgerMargin).wholeMicroseconds
    entries[key, default: Entry(shard: request.progress.event.shard, isUnknown: isUnknown)].waiting.append(request)
    return true
  }

  /// Whether the ledger has to be asked first. Says so once.
  mutating func asksLedger(about key: Key) -> Bool {
    guard entries[key]?.isUnknown == true, entries[key]?.isBeingAsked == false else { return false }
    entries[key]?.isBeingAsked = true
    return true
  }

  /// The commit of the oldest message that waits; nil when none does.
  func oldestWaiting(of keys: Set<Key>) -> Int64? {
    keys.flatMap { entries[$0]?.waiting ?? [] }.map(\.candidate.message.enqueuedAt).min()
  }

  /// The ledger has told of a burst, or of none.
  mutating func learn(_ burst: MessageBurst?, of key: Key, by policy: FoldPolicy) -> [Answer] {
    guard entries[key]?.isUnknown == true else { return [] }
    entries[key]?.isUnknown = false
    entries[key]?.burst = burst
    return decide(key, by: policy)
  }

  /// A push has its answer.
  mutating func answered(_ message: BurstMessage, isShown: Bool, of key: Key, by policy: FoldPolicy) -> [Answer] {
    guard entries[key] != nil else { return [] }
    entries[key]?.burst?.answered(message, isShown: isShown)
    return decide(key, by: policy)
  }

  /// Other processes have had conversations of these shards, which are ours from now on: the ledger is asked about them again.
  mutating func forget(_ shards: Set<Int32>) {
    entries = entries.filter { _, entry in
      !shards.contains(entry.shard) || !entry.waiting.isEmpty || entry.burst?.inFlight != nil
    }
  }

  /// Answers what can be answered now.
  mutating func decide(_ key: Key, by policy: FoldPolicy) -> [Answer] {
    guard var entry = entries[key], !entry.isUnknown, !entry.waiting.isEmpty else { return [] }
    var candidates = entry.waiting.map(\.candidate)
    let decisions = policy.decide(&candidates, of: &entry.burst)
    guard let burst = entry.burst else { return [] }
    var answers: [Answer] = []
    for (message, decision) in decisions {
      guard let place = entry.waiting.firstIndex(where: { $0.candidate.message == message }) else { continue }
      let request = entry.waiting.remove(at: place)
      answers.append(
        decision == .soundBeside
          ? Answer(request: request, decision: decision, first: message)
          : Answer(request: request, decision: decision, first: burst.place, begunAt: burst.begunAt, more: burst.more))
    }
    entries[key] = entry
    return answers
  }

  /// Forgets what is over, once in some seconds.
  private mutating func prune(at now: Int64, _ policy: FoldPolicy) {
    guard now - prunedAt > 5_000_000 else { return }
    prunedAt = now
    let oldest = now - (policy.window + Self.grace).wholeMicroseconds
    entries = entries.filter { _, entry in
      !entry.waiting.isEmpty || entry.burst.map { $0.inFlight != nil || $0.begunAt > oldest } ?? false
    }
  }
}

// Gate: bursts of messages.
extension DeliveryPipeline {
  /// Puts a message into its burst, where ``decide(_:on:)`` decides it together with all that the claim has brought: what a burst
  /// begins with follows from the order of commits.
  /// - Returns: false for what does not fold.
  func fold(_ index: Int, of progress: EventProgress, into touched: inout Set<BurstBook.Key>) -> Bool {
    guard let policy = configuration.folding, let key = BurstBook.Key(index, of: progress.event) else { return false }
    let request = BurstBook.Request(progress: progress, index: index, candidate: progress.candidate(index))
    guard bursts.add(request, to: key, by: policy, ownedSince: owned.held[progress.event.shard]?.takenAt ?? owned.since)
    else { return false }
    touched.insert(key)
    return true
  }

  func decide(_ touched: Set<BurstBook.Key>, on reactor: isolated Reactor) {
    guard let policy = configuration.folding else { return }
    var unknown: Set<BurstBook.Key> = []
    for key in touched {
      if bursts.asksLedger(about: key) { unknown.insert(key) }
      for answer in bursts.decide(key, by: policy) { act(on: answer, on: reactor) }
    }
    if !unknown.isEmpty { reactor.start { [unknown] in await self.learn(unknown, on: reactor) } }
  }

  /// Asks the ledger about bursts that may have begun before this process owned their conversations. Without an answer they
  /// begin anew: a needless sound is better than a late push.
  func learn(_ keys: Set<BurstBook.Key>, on reactor: isolated Reactor) async {
    guard let policy = configuration.folding else { return }
    var known: [BurstBook.Key: MessageBurst] = [:]
    do throws(PostgresError) {
      let oldest = min(owned.since, bursts.oldestWaiting(of: keys) ?? .max)
      let since = oldest - (policy.window * 2).wholeMicroseconds
      for told in try await store.foldedMessages(to: keys.map(\.userID), since: since, on: reactor) {
        let key = BurstBook.Key(userID: told.userID, conversationID: told.conversationID)
        var burst =
          known[key].flatMap { $0.first == told.first ? $0 : nil }
          ?? MessageBurst(first: told.first, begunAt: told.begunAt)
        burst.learn(
          told.message, isShown: told.isShown, sounds: told.sounds, begunAt: told.begunAt, more: told.more)
        known[key] = burst
      }
    } catch {
      logger.warning("cannot ask about bursts; they begin anew", metadata: ["error": "\(error)"])
    }
    for key in keys {
      for answer in bursts.learn(known[key], of: key, by: policy) { act(on: answer, on: reactor) }
    }
  }

  private func act(on answer: BurstBook.Answer, on reactor: isolated Reactor) {
    let (decided, index) = (answer.request.progress, answer.request.index)
    guard isOurs(decided, on: reactor) else { return pushEnded(index, of: decided, isShown: false, on: reactor) }
    let fold = HistoryEntry.Fold(answer)
    let recipient = decided.event.recipients[index]
    if answer.decision == .fold {
      var outcome = gate.skip(recipient, reason: DecisionReason.folded.rawValue)
      outcome.fold = fold
      decided.settle(outcome, of: index)
    } else if Reactor.now &- answer.request.askedAt > configuration.factsLife.clampedNanoseconds {
      decided.settle(gate.hold(recipient, for: .microseconds(1), reason: DecisionReason.folding.rawValue), of: index)
      pushEnded(index, of: decided, isShown: false, on: reactor)
    } else {
      delivery.deliver(compose(answer, on: reactor), to: index, of: decided, fold: fold, on: reactor)
    }
    recordIfDecided(decided, on: reactor)
  }

  /// Whether another process may have a message by now that has waited here. Then it is forgotten.
  private func isOurs(_ progress: EventProgress, on reactor: isolated Reactor) -> Bool {
    if progress.isAbandoned { return false }
    guard !progress.event.isLeased else { return true }
    if Reactor.now < ownedUntil, owned.held[progress.event.shard]?.epoch == progress.epoch { return true }
    progress.isAbandoned = true
    release(progress.event, on: reactor)
    return false
  }

  private func compose(_ answer: BurstBook.Answer, on reactor: isolated Reactor) -> EventPushes? {
    let event = answer.request.progress.event
    guard answer.first != answer.request.candidate.message || answer.more > 0,
      let content = event.content?.update(
        of: .message(answer.first.id), sounds: answer.decision == .sound, more: answer.more,
        in: delivery.words.current(on: reactor))
    else { return answer.request.progress.composed { compose(event) } }
    return compose(content, of: event)
  }

  /// A recipient's push has its answer: what has waited for it goes. One after the other, because a push may end at once.
  func pushEnded(_ index: Int, of progress: EventProgress, isShown: Bool, on reactor: isolated Reactor) {
    guard let policy = configuration.folding, let key = BurstBook.Key(index, of: progress.event) else { return }
    endedPushes.append((key, progress.burstMessage, isShown))
    guard endedPushes.count == 1 else { return }
    while let ended = endedPushes.first {
      for answer in bursts.answered(ended.message, isShown: ended.isShown, of: ended.key, by: policy) {
        act(on: answer, on: reactor)
      }
      endedPushes.removeFirst()
    }
  }
}

extension BurstBook.Key {
  /// Nil for what does not fold.
  fileprivate init?(_ index: Int, of event: PushEvent) {
    guard event.subject.kind == MessagePush.name, let conversationID = event.surfaceID else { return nil }
    self.init(userID: event.recipients[index].userID, conversationID: conversationID)
  }
}

extension HistoryEntry.Fold {
  fileprivate init(_ answer: BurstBook.Answer) {
    let isFirst = answer.first == answer.request.candidate.message
    self.init(
      sounds: answer.decision == .sound || answer.decision == .soundBeside, more: answer.more,
      burst: isFirst ? nil : answer.first.id, begunAt: answer.begunAt)
  }
}
