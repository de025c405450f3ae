internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Who gets occasions: users whose hour has come, and users with slots.
extension CampaignRunner {
  /// Enrols the users of all hours that have come, and those whom requests have left.
  /// - Returns: how long until the next one comes or something is retried; nil when neither is to come, or the database never sleeps.
  func enrolHours(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      try await updateCatalogue(after: .zero, on: reactor)
      failedHours = failedHours.filter { Reactor.now - $0.value < pace.failedHourPause.clampedNanoseconds }
      for name in catalogue.scheduled {
        let hours = try await store.dueHours(of: name, minutes: pace.standardMinutes, on: reactor)
        try await enrol(hours, on: reactor)
      }
      try await enrol(try await store.openRequests(on: reactor), on: reactor)
      guard sleep != nil else { return nil }
      let hour = try await store.timeUntilNextHour(
        of: catalogue.scheduled, minutes: pace.standardMinutes, on: reactor)
      return failedHours.isEmpty ? hour : min(hour ?? pace.failedHourPause, pace.failedHourPause)
    } catch {
      return failed(error)
    }
  }

  private func enrol(_ hours: [CampaignHour], on reactor: isolated Reactor) async throws(PostgresError) {
    for hour in hours where !isStopped && failedHours[hour] == nil { try await enrol(hour, on: reactor) }
  }

  /// A failed hour does not block others, and it is due again at a later look.
  private func enrol(_ hour: CampaignHour, on reactor: isolated Reactor) async throws(PostgresError) {
    do throws(PostgresError) {
      var count = 0
      while !isStopped {
        let page = try await store.enrol(hour, usersMax: pace.usersPerPage, on: reactor)
        count += page.enrolled
        if page.enrolled > 0 {
          for group in [OccasionGroup.hours, .written] { pauses[.occasions(group)]?.signal(on: reactor) }
        }
        if page.isFinished { break }
      }
      guard count > 0 else { return }
      logger.info(
        "a campaign's hour has come",
        metadata: ["campaign": "\(hour.campaign)", "zone": "\(hour.zones?.first ?? "all")", "users": "\(count)"])
    } catch {
      metrics.countFailedEnrolment(of: hour.campaign)
      // Another statement may succeed where the server answered, or this one ran out of time.
      guard error.code == .server || error.code == .timedOut || error.blamesStatement else { throw error }
      failedHours[hour] = Reactor.now
      logger.warning(
        "a campaign's hour cannot be served",
        metadata: ["campaign": "\(hour.campaign)", "zone": "\(hour.zones?.first ?? "all")"].merging(error.logged) { $1 }
      )
    }
  }

  /// Follows the audiences of all campaigns with slots whose turn it is.
  func followAudiences(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await updateCatalogue(after: pace.catalogueInterval, on: reactor)
      for (name, definition) in catalogue.ofSlots { await follow(name, definition, on: reactor) }
    } catch {
      failed(error)
    }
  }

  /// Gives slots to the users of an audience. An unreadable audience does not block other campaigns.
  private func follow(_ name: String, _ definition: CampaignDefinition, on reactor: isolated Reactor) async {
    if let last = followedAt[name], Reactor.now - last < pace.enrolInterval.clampedNanoseconds { return }
    followedAt[name] = Reactor.now
    do throws(PostgresError) {
      for areNew in [true, false] { try await follow(name, definition, areNew: areNew, on: reactor) }
    } catch {
      if isStopped { return }
      metrics.countFailedEnrolment(of: name)
      logger.warning(
        "a campaign's audience cannot be read", metadata: ["campaign": "\(name)"].merging(error.logged) { $1 })
    }
  }

  /// All pages of an audience.
  private func follow(
    _ name: String, _ definition: CampaignDefinition, areNew: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    var (enrolled, changed) = (0, 0)
    var last: HostID?
    repeat {
      let page = try await audiences.enrolSlots(
        of: name, defaults: definition.slots, areNew: areNew, after: last, usersMax: pace.usersPerPage,
        lead: catalogue.lead, on: reactor)
      enrolled += page.enrolled
      changed += page.moved
      if page.enrolled > 0 { pauses[.preparation]?.signal(on: reactor) }
      last = page.last
    } while last != nil && !isStopped
    guard enrolled + changed > 0 else { return }
    logger.info(
      "users have slots", metadata: ["campaign": "\(name)", "enrolled": "\(enrolled)", "changed": "\(changed)"])
  }
}
