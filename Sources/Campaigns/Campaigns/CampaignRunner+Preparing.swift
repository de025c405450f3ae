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
      while !isStopped, try await prepareBatch(on: reactor) > 0 {}
      return try await store.timeUntilNextSlot(on: reactor)
    } catch {
      return failed(error)
    }
  }

  /// Prepares a batch: claimed together, rendered and written by campaign.
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
    if !slots.isEmpty { pauses[.occasions(.slots)]?.signal(on: reactor) }
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
      outcome.decided + written, of: campaign, advancing: catalogue.lead, tellsDevices: definition.content != nil,
      on: reactor)
    return outcome.moved
  }

  /// Has a model write the bodies of occasions, some at a time. One whose text fails, or that is due too soon, keeps its template.
  private func write(
    _ drafts: [Draft], of campaign: String, on reactor: isolated Reactor
  ) async -> [DecidedOccasion] {
    guard !drafts.isEmpty else { return [] }
    let soon = Date.now.addingTimeInterval(Double(pace.draftReserve.components.seconds))
    let timely = drafts.indices.filter { Date(microseconds: drafts[$0].occasion.fireAt) > soon }
    let last = Reactor.now + pace.draftLimit.clampedNanoseconds
    var written: [Int: DecidedOccasion] = [:]
    var canAsk = true
    _ = await share(timely, among: pace.concurrentCalls, while: { canAsk && Reactor.now < last }, on: reactor) {
      place in
      do throws(PostgresError) {
        let composition = try await self.texts.write(drafts[place], on: reactor)
        if composition?.text != nil { written[place] = drafts[place].decided(by: composition) }
      } catch {
        self.logger.warning("a model is not asked", metadata: ["error": "\(error)"])
        canAsk = false
      }
    }
    metrics.countCode("TEXT_OF_MODEL", times: written.count, of: campaign)
    metrics.countCode("TEXT_OF_TEMPLATE", times: drafts.count - written.count, of: campaign)
    return drafts.indices.map { written[$0] ?? drafts[$0].decided() }
  }
}
