internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// What slots will say.
extension CampaignRunner {
  /// Renders everything that is due soon.
  /// - Returns: how long there is nothing to do; nil for ever, as far as is known.
  func prepareAll(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      guard try await hasSlots(on: reactor) else { return nil }
      try await prepareBatches(on: reactor)
      return try await store.timeUntilNextSlot(on: reactor)
    } catch {
      return failed(error)
    }
  }

  /// Prepares batches, claimed together, rendered and written by campaign, until nothing is left. While one of many batches is made here,
  /// the database works for another. Where a model writes, there is one at a time: so many calls are made concurrently as the pace says.
  private func prepareBatches(on reactor: isolated Reactor) async throws(PostgresError) {
    let first = try await prepareBatch(on: reactor)
    guard first > 0 else { return }
    let isShared = first == pace.slotsPerBatch && catalogue.ofSlots.values.allSatisfy { $0.composer == nil }
    var failure: PostgresError?
    let loops = WorkBatch(Array(1...(isShared ? 2 : 1)), until: .max)
    _ = await loops.run(workers: 2, on: reactor) { _ in
      do throws(PostgresError) {
        while !self.isStopped, try await self.prepareBatch(on: reactor) > 0 {}
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// - Returns: how many slots there were.
  private func prepareBatch(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let slots = try await store.claimSlots(pace.slotsPerBatch, lease: pace.writingLease, on: reactor)
    try await know(campaignsOf: slots, on: reactor)
    for (campaign, occasions) in Dictionary(grouping: slots, by: \.campaign) {
      var unwritten = occasions
      if let definition = catalogue.ofSlots[campaign] {
        let moved = try await prepare(occasions, of: campaign, by: definition, on: reactor)
        // Nothing is written of what has moved; where it has not, after all, the claim would be made again and again.
        unwritten = occasions.filter { moved.contains($0.userID) }
      }
      if !unwritten.isEmpty { try await store.advance(unwritten, of: campaign, lead: catalogue.lead, on: reactor) }
    }
    // What was rendered late may be due before the next look.
    if !slots.isEmpty { pauses[.slotOccasions]?.signal(on: reactor) }
    return slots.count
  }

  /// - Returns: users who live in another zone than their slots were made for.
  private func prepare(
    _ occasions: [Occasion], of campaign: String, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Set<HostID> {
    let outcome = try await renderer.render(
      occasions, of: campaign, by: definition, isAhead: true, lead: catalogue.lead, on: reactor)
    let written = await write(outcome.drafts, of: campaign, on: reactor)
    if outcome.missingTokens > 0 {
      metrics.countCode("TEMPLATE_MISSING_TOKEN", times: outcome.missingTokens, of: campaign)
    }
    try await store.prepare(
      outcome.decided + written, of: campaign, advancing: catalogue.lead, tellsDevices: definition.contentURL != nil,
      on: reactor)
    return outcome.moved
  }

  /// Has a model write the bodies of occasions, some at a time. One whose text fails, or that is due too soon, keeps its template.
  private func write(
    _ drafts: [Draft], of campaign: String, on reactor: isolated Reactor
  ) async -> [DecidedOccasion] {
    guard !drafts.isEmpty else { return [] }
    let soon = Date.now.addingTimeInterval(Double(pace.draftReserve.components.seconds))
    var written: [DecidedOccasion] = []
    var unwritten = drafts.filter { Date(microseconds: $0.occasion.fireAt) <= soon }
    let timely = drafts.filter { Date(microseconds: $0.occasion.fireAt) > soon }
    let batch = WorkBatch(timely, until: Reactor.now + pace.draftLimit.clampedNanoseconds)
    let left = await batch.run(workers: pace.concurrentDrafts, on: reactor) { draft in
      do throws(PostgresError) {
        let composition = try await self.texts.write(draft, on: reactor)
        if composition?.text == nil { unwritten.append(draft) } else { written.append(draft.decided(by: composition)) }
      } catch {
        self.logger.warning("a model is not asked", metadata: ["error": "\(error)"])
        unwritten.append(draft)
        batch.stop()
      }
    }
    unwritten += left
    metrics.countCode("TEXT_OF_MODEL", times: written.count, of: campaign)
    metrics.countCode("TEXT_OF_TEMPLATE", times: unwritten.count, of: campaign)
    return written + unwritten.map { $0.decided() }
  }
}
