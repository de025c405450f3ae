internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Who gets occasions: users whose hour has come, and users with slots.
extension CampaignRunner {
  /// Enrols the users of all hours that have come.
  /// - Returns: how long until the next one comes or something is retried; nil when neither is to come, or the database never sleeps.
  func enrolHours(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      try await updateCatalogue(after: .zero, on: reactor)
      retries.beginLook()
      for name in catalogue.scheduled {
        let hours = try await store.dueHours(of: name, minutes: pace.standardMinutes, on: reactor)
        for hour in hours where !isStopped { try await enrol(hour, on: reactor) }
      }
      guard sleep != nil else { return nil }
      let hour = try await store.timeUntilNextHour(
        of: catalogue.scheduled, minutes: pace.standardMinutes, on: reactor)
      return retries.isEmpty ? hour : min(hour ?? pace.retryWait, pace.retryWait)
    } catch {
      return failed(error)
    }
  }

  /// A failed hour does not block others, and it is due again at a later look.
  private func enrol(_ hour: CampaignHour, on reactor: isolated Reactor) async throws(PostgresError) {
    guard !retries.leavesOut(hour) else { return }
    do throws(PostgresError) {
      var count = 0
      while !isStopped {
        let page = try await store.enrol(hour, usersMax: pace.hourUsers, on: reactor)
        count += page.enrolled
        if page.enrolled > 0 {
          for duty in [Duty.hourOccasions, .writtenOccasions] { pauses[duty]?.signal(on: reactor) }
        }
        if page.isFinished { break }
      }
      retries.succeeded(hour)
      guard count > 0 else { return }
      logger.info(
        "a campaign's hour has come",
        metadata: ["campaign": "\(hour.campaign)", "zone": "\(hour.zones[0])", "users": "\(count)"])
    } catch {
      metrics.countFailedEnrolment(of: hour.campaign)
      guard error.concernsStatement else { throw error }
      retries.failed(hour)
      logger.warning(
        "a campaign's hour cannot be served",
        metadata: ["campaign": "\(hour.campaign)", "zone": "\(hour.zones[0])"].merging(error.logged) { $1 })
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

extension PostgresError {
  /// Whether another statement may succeed: the server answered, or this statement ran out of time.
  fileprivate var concernsStatement: Bool { code == .server || code == .timedOut || blamesStatement }
}
