internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Who gets occasions: users whose hour has come, and users with slots.
extension CampaignRunner {
  func enrolDue(on reactor: isolated Reactor) async throws(PostgresError) {
    try await updateCatalogue(after: .zero, on: reactor)
    retries.beginLook()
    for name in catalogue.scheduled { try await enrolDue(name, on: reactor) }
  }

  private func enrolDue(_ name: String, on reactor: isolated Reactor) async throws(PostgresError) {
    guard let names = try await zoneNames(of: name, on: reactor) else { return }
    let hours: [CampaignHour]
    do throws(PostgresError) {
      hours = try await store.dueHours(of: name, minutes: pace.standardMinutes, zones: names, on: reactor)
    } catch {
      return try recordUnreadableAudience(name, error)
    }
    for hour in hours where !isStopped { try await enrol(hour, on: reactor) }
  }

  /// A failed hour does not block others, and it is due again at a later look.
  private func enrol(_ hour: CampaignHour, on reactor: isolated Reactor) async throws(PostgresError) {
    let part = CampaignRetries.Part.hour(hour.campaign, hour.timeZone)
    guard !retries.leavesOut(part) else { return }
    do throws(PostgresError) {
      var count = 0
      while !isStopped {
        let page = try await store.enrol(hour, usersMax: pace.hourUsers, on: reactor)
        count += page.enrolled
        if page.isFinished { break }
      }
      retries.succeeded(part)
      guard count > 0 else { return }
      logger.info(
        "a campaign's hour has come",
        metadata: ["campaign": "\(hour.campaign)", "zone": "\(hour.timeZone)", "users": "\(count)"])
    } catch {
      metrics.countFailedEnrolment(of: hour.campaign)
      guard error.concernsStatement else { throw error }
      retries.failed(part)
      logger.warning(
        "a campaign's hour cannot be served",
        metadata: ["campaign": "\(hour.campaign)", "zone": "\(hour.timeZone)"].merging(error.logged) { $1 })
    }
  }

  /// The zones of a campaign's audience; nil while unknown. An unreadable audience does not block other campaigns, and
  /// its known zones are still served.
  private func zoneNames(of name: String, on reactor: isolated Reactor) async throws(PostgresError) -> [String]? {
    let known = zones[name]
    if let known, Reactor.now - known.readAt < pace.zonesAge.clampedNanoseconds { return known.names }
    guard !retries.leavesOut(.audience(name)) else { return known?.names }
    do throws(PostgresError) {
      let names = try await store.zones(ofCampaign: name, on: reactor)
      retries.succeeded(.audience(name))
      zones[name] = (names, Reactor.now)
      return names
    } catch {
      try recordUnreadableAudience(name, error)
      return known?.names
    }
  }

  private func recordUnreadableAudience(_ name: String, _ error: PostgresError) throws(PostgresError) {
    metrics.countFailedEnrolment(of: name)
    guard error.concernsStatement else { throw error }
    retries.failed(.audience(name))
    logger.warning(
      "a campaign's audience cannot be read", metadata: ["campaign": "\(name)"].merging(error.logged) { $1 })
  }

  /// How long until an hour comes or something is retried; nil when neither is to come, or the database never sleeps.
  func timeUntilNextLook(on reactor: isolated Reactor) async -> Duration? {
    guard sleep != nil else { return nil }
    let scheduled = zones.filter { catalogue.scheduled.contains($0.key) }.mapValues(\.names)
    do throws(PostgresError) {
      let hour = try await store.timeUntilNextHour(minutes: pace.standardMinutes, zones: scheduled, on: reactor)
      return retries.isEmpty ? hour : min(hour ?? pace.retryWait, pace.retryWait)
    } catch {
      logger.debug("the next hour of a campaign is unknown", metadata: ["error": "\(error)"])
      return pace.retryWait
    }
  }

  /// Follows the audiences of all campaigns with slots whose turn it is.
  func followAudiences(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await updateCatalogue(after: pace.catalogueInterval, on: reactor)
    } catch {
      failed(error)
      return
    }
    for (name, definition) in catalogue.ofSlots { await follow(name, definition, on: reactor) }
  }

  /// Gives slots to the users of an audience. An unreadable audience does not block other campaigns.
  private func follow(_ name: String, _ definition: CampaignDefinition, on reactor: isolated Reactor) async {
    if let last = followedAt[name], Reactor.now - last < pace.enrolInterval.clampedNanoseconds { return }
    followedAt[name] = Reactor.now
    do throws(PostgresError) {
      for areNew in [true, false] {
        let users = try await follow(name, definition, areNew: areNew, on: reactor)
        guard users.enrolled + users.moved > 0 else { continue }
        logger.info(
          "users have slots",
          metadata: ["campaign": "\(name)", "enrolled": "\(users.enrolled)", "changed": "\(users.moved)"])
      }
    } catch {
      if isStopped { return }
      metrics.countFailedEnrolment(of: name)
      logger.warning(
        "a campaign's audience cannot be read", metadata: ["campaign": "\(name)"].merging(error.logged) { $1 })
    }
  }

  /// All pages of an audience. A page has as many users as take a part of the time that a statement has; one that takes all of it is
  /// asked again with fewer.
  private func follow(
    _ name: String, _ definition: CampaignDefinition, areNew: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (enrolled: Int, moved: Int) {
    var (enrolled, moved) = (0, 0)
    var last: HostID?
    while !isStopped {
      let begunAt = Reactor.now
      do throws(PostgresError) {
        let page = try await audiences.enrolSlots(
          of: name, defaults: definition.slots, areNew: areNew, after: last, usersMax: enrolUsers,
          lead: catalogue.lead, on: reactor)
        enrolled += page.enrolled
        moved += page.moved
        if page.enrolled > 0 { pauses[.preparation]?.signal(on: reactor) }
        guard let end = page.last else { break }
        last = end
        enrolUsers = pace.enrolUsers(after: enrolUsers, in: .nanoseconds(Int64(Reactor.now - begunAt)))
      } catch {
        guard error.sqlState == .queryCanceled, enrolUsers > pace.enrolUsersMin else { throw error }
        enrolUsers = max(enrolUsers / 4, pace.enrolUsersMin)
      }
    }
    return (enrolled, moved)
  }
}

// What slots will say.
extension CampaignRunner {
  /// Renders everything that is due soon.
  /// - Returns: how long there is nothing to do; nil for ever, as far as is known.
  func prepareAll(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      guard try await hasSlots(on: reactor) else { return nil }
      try await prepareBatches(on: reactor)
      return try await store.timeUntilNextSlot(on: reactor).rendering
    } catch {
      return failed(error)
    }
  }

  /// Prepares batches, claimed together, rendered and written by campaign, until nothing is left. While one of many batches is made here,
  /// the database works for another. Where a model writes, there is one at a time: so many calls are made concurrently as the pace says.
  private func prepareBatches(on reactor: isolated Reactor) async throws(PostgresError) {
    let first = try await prepareBatch(on: reactor)
    guard first > 0, !isStopped else { return }
    var failure: PostgresError?
    let rest = {
      do throws(PostgresError) {
        while try await self.prepareBatch(on: reactor) > 0, !self.isStopped {}
      } catch {
        failure = error
      }
    }
    let isShared = first == pace.slotsPerBatch && catalogue.ofSlots.values.allSatisfy { $0.composer == nil }
    let ended = Signal()
    if isShared {
      reactor.start {
        await rest()
        ended.signal(on: reactor)
      }
    }
    await rest()
    if isShared { _ = await ended.wait(on: reactor) }
    if let failure { throw failure }
  }

  /// - Returns: how many slots there were.
  private func prepareBatch(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let slots = try await store.claimSlots(pace.slotsPerBatch, lease: pace.renderLease, on: reactor)
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
    if !slots.isEmpty { pauses[.pushes]?.signal(on: reactor) }
    return slots.count
  }

  /// - Returns: users who live in another zone than their slots were made for.
  private func prepare(
    _ occasions: [Occasion], of campaign: String, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Set<HostID> {
    var outcome = try await renderer.render(
      occasions, of: campaign, by: definition, isAhead: true, lead: catalogue.lead, on: reactor)
    if let task = definition.composer?.task {
      let written = await drafts.write(
        outcome.drafts, for: &outcome.decided, by: task, within: pace.draftLimit, on: reactor)
      metrics.countCode("TEXT_OF_MODEL", times: written, of: campaign)
      metrics.countCode("TEXT_OF_TEMPLATE", times: outcome.drafts.count - written, of: campaign)
    }
    if outcome.missingTokens > 0 {
      metrics.countCode("TEMPLATE_MISSING_TOKEN", times: outcome.missingTokens, of: campaign)
    }
    try await store.prepare(
      outcome.decided, of: campaign, advancing: catalogue.lead, tellsDevices: definition.contentURL != nil, on: reactor)
    return outcome.moved
  }
}

extension PostgresError {
  /// Whether another statement may succeed: the server answered, or this statement ran out of time.
  fileprivate var concernsStatement: Bool { code == .server || code == .timedOut || blamesStatement }
}
