internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// What is due: it is decided, and its pushes are queued.
extension CampaignRunner {
  /// Decides everything that is due, at most as fast as the pace allows: the more is due, the faster. The pace does not fall before
  /// all is decided.
  /// - Returns: how long there is nothing to do; nil for ever, as far as is known.
  func decideAll(_ group: OccasionGroup, on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      guard try await hasSlots(on: reactor) || group != .slots else { return nil }
      var rate = rates[group] ?? DueRate()
      // What is due and had no room in the inbox is the rest of what was due before.
      if !hasBacklog(rate) { rate = DueRate() }
      while !isStopped {
        let begunAt = Reactor.now
        if rate.perSecond < pace.pushesPerSecond, begunAt - rate.countedAt >= 1_000_000_000 {
          let due = try await store.dueOccasions(group, upTo: pace.dueMax, on: reactor)
          rate.perSecond = max(rate.perSecond, pace.pushesPerSecond(whenDue: due))
          rate.countedAt = begunAt
        }
        let isAsking = group == .written && texts.isAsking
        let most = isAsking ? pace.writtenPerBatch : pace.pushesPerBatch(at: rate.perSecond)
        let due = try await decideBatch(of: most, group, on: reactor)
        guard let oldest = due.map(\.fireAt).min() else { break }
        rate.foundAt = begunAt
        let pause = pace.pause(
          after: .nanoseconds(Int64(Reactor.now - begunAt)), of: .seconds(1) * due.count / rate.perSecond,
          waited: .seconds(Date.now.timeIntervalSince(Date(microseconds: oldest))),
          hasMessages: !isAsking && hasMessages())
        if pause > .zero { await reactor.sleep(for: pause) }
      }
      rates[group] = rate
      return hasBacklog(rate) ? .zero : try await store.timeUntilNextOccasion(of: group, on: reactor)
    } catch {
      return failed(error)
    }
  }

  /// Whether more is probably due, for which the inbox had no room. Looking again costs less than asking when the next occasion is:
  /// that is behind the index entries of all that were just pushed.
  private func hasBacklog(_ rate: DueRate) -> Bool {
    Reactor.now - rate.foundAt < pace.backlogInterval.clampedNanoseconds
  }

  /// Decides a batch: claimed together, and looked at and committed together with others of its campaign.
  /// - Returns: the occasions that were due.
  private func decideBatch(
    of most: Int, _ group: OccasionGroup, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    let due = try await store.claimOccasions(
      most, group, waitingMax: pace.pushesPerBatch(at: pace.pushesPerSecond),
      lease: group == .written ? pace.writingLease : pace.lease, grace: group == .slots ? pace.grace : pace.lateAfter,
      on: reactor)
    try await know(campaignsOf: due, on: reactor)
    var drafts: [Draft] = []
    for (campaign, occasions) in Dictionary(grouping: due, by: \.campaign) {
      var decided = occasions.compactMap { occasion in
        refusal(of: occasion).map { DecidedOccasion(occasion, nil, refusal: $0) }
      }
      let open = occasions.filter { refusal(of: $0) == nil }
      if let definition = catalogue.definitions[campaign], !open.isEmpty {
        let outcome = try await renderer.render(
          open, of: campaign, by: definition, isAhead: false, lead: catalogue.lead, on: reactor)
        decided += outcome.decided
        for draft in outcome.drafts {
          if draft.question != nil, texts.isAsking {
            drafts.append(draft)
          } else {
            decided.append(draft.decided(by: try await texts.write(draft, on: reactor)))
          }
        }
      }
      try await commit(decided, of: campaign, on: reactor)
    }
    try await write(drafts, on: reactor)
    return due
  }

  /// What is known against an occasion before anything is asked.
  private func refusal(of occasion: Occasion) -> String? {
    if occasion.isLate { return "too_late" }
    if occasion.attempts > pace.attemptsMax { return "attempts_exhausted" }
    guard let definition = catalogue.definitions[occasion.campaign] else {
      return catalogue.active.contains(occasion.campaign) ? "campaign_unusable" : "campaign_inactive"
    }
    // It has had slots since, or has none any more.
    return definition.hasSlots == occasion.slot.isEmpty ? "campaign_unusable" : nil
  }

  /// Where the database refuses occasions together, it is asked for each: a failure of one user's does not affect others.
  private func commit(
    _ decided: [DecidedOccasion], of campaign: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    guard !decided.isEmpty else { return }
    let way = catalogue.definitions[campaign]?.way ?? .push
    do throws(PostgresError) {
      let ends = try await store.commit(decided, of: campaign, way: way.rawValue, on: reactor)
      for (place, end) in ends { metrics.count(end, of: decided[place].occasion) }
      if ends.values.contains(where: { $0.status == "sent" }) { queued(reactor) }
    } catch {
      guard error.blamesStatement else { throw error }
      guard decided.count > 1 else { return undecided(of: campaign, error) }
      for one in decided { try await commit([one], of: campaign, on: reactor) }
    }
  }

  private func undecided(of campaign: String, _ error: PostgresError) {
    logger.warning(
      "an occasion is not decided; its lease will run out", metadata: ["campaign": "\(campaign)", "error": "\(error)"])
  }

  /// Has a model write drafts, some at a time. What it has not begun when the runner stops, or the claim may run out, is given back.
  private func write(_ drafts: [Draft], on reactor: isolated Reactor) async throws(PostgresError) {
    let last = Reactor.now + pace.draftLimit.clampedNanoseconds
    let left = await share(
      drafts, among: pace.concurrentCalls, while: { !self.isStopped && Reactor.now < last }, on: reactor
    ) { await self.write($0, on: reactor) }
    if !left.isEmpty { try await store.release(left.map(\.occasion), on: reactor) }
  }

  private func write(_ draft: Draft, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      let decided = draft.decided(by: try await texts.write(draft, on: reactor))
      try await commit([decided], of: draft.occasion.campaign, on: reactor)
    } catch {
      undecided(of: draft.occasion.campaign, error)
    }
  }
}

/// How fast what is due is decided at present. Moments are monotonic nanoseconds.
struct DueRate {
  var perSecond = 0
  /// When it was last counted how much is due.
  var countedAt: UInt64 = 0
  /// When a look last found something that was due.
  var foundAt: UInt64 = 0
}
