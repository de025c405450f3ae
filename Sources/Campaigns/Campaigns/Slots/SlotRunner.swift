package import Logging
internal import Postgres
internal import PushRules
package import PushStore
package import Reactors

/// When and how fast slots are rendered and pushed.
package struct SlotPace: Equatable, Sendable {
  /// How long after its time a row may be pushed. An outage may end at noon.
  package var grace = Duration.seconds(15 * 60)
  package var slotsPerBatch = 500
  /// Rows pushed in a second at most, so that messages of that morning have their share of the database.
  package var rowsPerSecond = 2_000
  /// Rows that are due at once are pushed within this time where the pace allows that. What a process has sent and not yet recorded when
  /// it is killed is sent once more: of pushes that take 25 s and are recorded within 0.1 s that is less than one in a hundred.
  var spread = Duration.seconds(25)
  /// How long a claim of rows that are due holds. Then another process takes over the rows of a killed one.
  package var lease = Duration.seconds(30)
  /// How long a claim of slots that are rendered holds: longer than their fetches may take.
  package var renderLease = Duration.seconds(60)
  package var concurrentDrafts = 20
  /// How long texts of a batch are begun: with the last of them it stays within the lease.
  var draftLimit: Duration { renderLease / 2 }
  /// A row that is due sooner has a template.
  package var draftReserve = Duration.seconds(30)
  /// Claims after which a row is given up. A cause that kills a process five times kills the sixth too.
  package var attemptsMax = 5
  /// The longest pause between two looks.
  package var lookInterval = Duration.seconds(10)
  /// For how long after it found rows the runner looks again without asking when the next one is due.
  package var backlogInterval = Duration.seconds(1)
  /// After a failure, how long the database may sleep before the next try.
  package var retryWait = Duration.seconds(600)
  /// The pause between two looks at the campaigns.
  package var catalogueInterval = Duration.seconds(20)
  /// The pause between two looks at whole audiences. Users of the API are enrolled at once.
  package var enrolInterval = Duration.seconds(15 * 60)
  /// Users enrolled by one statement at least. Each reads the whole audience, and what that costs depends on the host.
  var enrolUsersMin = 500
  /// Within this time after a user's schedule was rendered on request, the next request gets what is stored.
  package var requestPause = Duration.seconds(30)

  package init() {}

  /// More rows are not counted: they are pushed as fast as the pace allows.
  var dueRowsMax: Int { rowsPerSecond * Int(spread.components.seconds) }

  /// Rows pushed in a second while so many are due: a twentieth of the most at least.
  func rowsPerSecond(whenDue rows: Int) -> Int {
    min(max(rows / max(Int(spread.components.seconds), 1), rowsPerSecond / 20, 1), rowsPerSecond)
  }

  /// Rows pushed together. So many events of the fastest pace wait in the inbox at most before more come.
  func rowsPerBatch(at rowsPerSecond: Int) -> Int { min(max(rowsPerSecond / 32, 1), 256) }

  /// Users of the next page of an audience, after a page of so many users took a time. 5,000 at most.
  func enrolUsers(after users: Int, in time: Duration) -> Int {
    if time < .seconds(1) { return min(users * 2, 5_000) }
    return time > .seconds(4) ? max(users / 2, enrolUsersMin) : users
  }
}

/// Renders what slots say before they are due, and pushes it when they are.
///
/// Each process has one, beside the ``CampaignRunner``. Any number may share a database: slots and rows are leased, and a
/// commit queues the push of a row in the transaction that ends the row. When a process dies, others take over its rows as
/// soon as their leases expire.
package final class SlotRunner {
  private let store: PushDatabase
  private let audiences: PushDatabase
  private let renderer: SlotRenderer
  private let pace: SlotPace
  private let metrics: CampaignMetrics
  private let logger: Logger
  private let queued: (isolated Reactor) -> Void
  private let contents: ContentFetcher?
  private let drafts: SlotDraftWriter
  private let renderPause: WakefulPause
  private let pushPause: WakefulPause
  private let enrolPause: WakefulPause
  private let renderEnded = Signal()
  private let ended = Signal()
  private var isStopped = false
  private var isRunning = false
  /// When a look last found rows that were due.
  private var foundAt: UInt64?
  private var catalogue = CampaignCatalogue()
  private var catalogueReadAt: UInt64?
  private var enrolledAt: [String: UInt64] = [:]
  private var enrolUsers: Int
  /// Rows pushed in a second at present, and when that was decided.
  private var rate: (rowsPerSecond: Int, decidedAt: UInt64)?

  /// Makes a runner; ``run(on:)`` starts it.
  /// - Parameters:
  ///   - audiences: asks for whole audiences, which may take long; see ``PushDatabase/analysisPool(_:logger:)``.
  ///   - contents: fetches what campaigns with a content URL say; nil where nothing is fetched.
  ///   - writer: writes what campaigns with a composer say; nil without a language model.
  ///   - limits: the writer's daily budget.
  ///   - sleep: between its looks the next row is known, and nothing is asked before.
  ///   - queued: called after pushes were queued, to wake the pipeline.
  package init(
    store: PushDatabase, audiences: PushDatabase? = nil, contents: ContentFetcher? = nil,
    writer: (any CheckInWriter)? = nil,
    limits: ModelUsageLimits = ModelUsageLimits(tokensMax: 0, costMicrodollarsMax: 0),
    pace: SlotPace = SlotPace(), metrics: CampaignMetrics = CampaignMetrics(), sleep: DatabaseSleep? = nil,
    logger: Logger,
    queued: @escaping (isolated Reactor) -> Void
  ) {
    self.store = store
    self.audiences = audiences ?? store
    self.contents = contents
    self.pace = pace
    enrolUsers = pace.enrolUsersMin
    self.metrics = metrics
    self.logger = logger
    self.queued = queued
    drafts = SlotDraftWriter(
      texts: ModelTexts(store: store, writer: writer, limits: limits, logger: logger),
      concurrency: pace.concurrentDrafts,
      reserve: pace.draftReserve)
    renderPause = WakefulPause(sleep)
    pushPause = WakefulPause(sleep)
    enrolPause = WakefulPause(sleep)
    renderer = SlotRenderer(store: store, contents: contents, logger: logger)
  }

  /// Works until ``stop(on:)``. What is due does not wait for what is rendered, which may be fetched first, and neither waits for users who
  /// get slots.
  package func run(on reactor: isolated Reactor) async {
    isRunning = true
    reactor.start {
      while !self.isStopped {
        let wait = await self.renderAll(on: reactor)
        if !self.isStopped { await self.wait(wait, self.renderPause, on: reactor) }
      }
      self.renderEnded.signal(on: reactor)
    }
    reactor.start {
      while !self.isStopped {
        await self.enrolAll(on: reactor)
        if !self.isStopped { await self.wait(nil, self.enrolPause, on: reactor) }
      }
    }
    while !isStopped {
      let time = await pushAll(on: reactor)
      if !isStopped { await wait(time, pushPause, on: reactor) }
    }
    _ = await renderEnded.wait(on: reactor)
    // A page of an audience is not waited for: it is one statement, which the next process makes again.
    isRunning = false
    ended.signal(on: reactor)
  }

  /// - Parameter time: how long there is nothing to do; nil for ever, as far as is known.
  private func wait(_ time: Duration?, _ pause: WakefulPause, on reactor: isolated Reactor) async {
    let step = max(min(time ?? pace.lookInterval, pace.lookInterval), .milliseconds(10))
    _ = await pause.wait(for: step, longest: time.map { max($0 - step, .zero) }, on: reactor)
  }

  /// Reads the campaigns anew and looks at once, because an operator has asked for a run.
  package func wake(on reactor: isolated Reactor) {
    catalogueReadAt = nil
    signalAll(on: reactor)
  }

  /// Begins no further batch.
  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    signalAll(on: reactor)
  }

  private func signalAll(on reactor: isolated Reactor) {
    for pause in [enrolPause, renderPause, pushPause] { pause.signal(on: reactor) }
  }

  /// Waits until the batches in progress are written, and cancels fetches that last longer.
  /// - Returns: false when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let isDone = isRunning ? await ended.wait(for: limit, on: reactor) : true
    contents?.close(on: reactor)
    return isDone
  }

  /// Pushes all rows that are due, at most as fast as the pace allows.
  /// - Returns: how long there is nothing to do; nil for ever, as far as is known.
  func pushAll(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      try await updateCatalogue(on: reactor)
      if catalogue.ofSlots.isEmpty, enrolledAt.isEmpty { return nil }
      while !isStopped {
        let begunAt = Reactor.now
        let rowsPerSecond = try await rowsPerSecond(on: reactor)
        let rows = try await pushBatch(pace.rowsPerBatch(at: rowsPerSecond), on: reactor)
        if rows == 0 { break }
        foundAt = begunAt
        let time = Duration.seconds(1) * rows / rowsPerSecond - .nanoseconds(Int64(Reactor.now - begunAt))
        if time > .zero { await reactor.sleep(for: time) }
      }
      return mayHaveBacklog ? .zero : try await store.timeUntilNextSlot(on: reactor).pushing
    } catch {
      return failed(error)
    }
  }

  /// How fast rows are pushed: the more of them are due, the faster. It does not fall before all are pushed.
  private func rowsPerSecond(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    if !mayHaveBacklog { rate = nil }
    if let rate, rate.rowsPerSecond == pace.rowsPerSecond || Reactor.now &- rate.decidedAt < 1_000_000_000 {
      return rate.rowsPerSecond
    }
    let due = try await store.dueSlotRows(upTo: pace.dueRowsMax, on: reactor)
    let rowsPerSecond = max(rate?.rowsPerSecond ?? 0, pace.rowsPerSecond(whenDue: due))
    rate = (rowsPerSecond, Reactor.now)
    return rowsPerSecond
  }

  /// Whether more rows are probably due, for which the inbox had no room. Looking again costs less than asking when the next one is
  /// due: that is behind the index entries of all rows that were just pushed.
  private var mayHaveBacklog: Bool {
    foundAt.map { Reactor.now &- $0 < pace.backlogInterval.clampedNanoseconds } ?? false
  }

  /// Renders all rows that are due soon.
  /// - Returns: how long there is nothing to do; nil for ever, as far as is known.
  func renderAll(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      try await updateCatalogue(on: reactor)
      if catalogue.ofSlots.isEmpty, enrolledAt.isEmpty { return nil }
      try await renderBatches(on: reactor)
      return try await store.timeUntilNextSlot(on: reactor).rendering
    } catch {
      return failed(error)
    }
  }

  /// Follows the audiences of all campaigns whose turn it is.
  func enrolAll(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await updateCatalogue(on: reactor)
    } catch {
      failed(error)
      return
    }
    for (name, definition) in catalogue.ofSlots { await enrol(name, definition, on: reactor) }
  }

  @discardableResult
  private func failed(_ error: PostgresError) -> Duration {
    logger.warning("slots cannot be served; trying again later", metadata: ["error": "\(error)"])
    return pace.retryWait
  }

  private func updateCatalogue(on reactor: isolated Reactor) async throws(PostgresError) {
    if let catalogueReadAt, Reactor.now - catalogueReadAt < pace.catalogueInterval.clampedNanoseconds { return }
    catalogue = try await catalogue.updated(from: store, logger: logger, on: reactor)
    catalogueReadAt = Reactor.now
  }

  /// Gives slots to the users of an audience. An unreadable audience does not block other campaigns.
  private func enrol(_ name: String, _ definition: CampaignDefinition, on reactor: isolated Reactor) async {
    if let last = enrolledAt[name], Reactor.now - last < pace.enrolInterval.clampedNanoseconds { return }
    enrolledAt[name] = Reactor.now
    do throws(PostgresError) {
      for areNew in [true, false] {
        let users = try await enrol(name, definition, areNew: areNew, on: reactor)
        guard users.enrolled + users.moved > 0 else { continue }
        logger.info(
          "users have slots",
          metadata: ["campaign": "\(name)", "enrolled": "\(users.enrolled)", "changed": "\(users.moved)"])
      }
    } catch {
      if isStopped { return }
      metrics.countFailedSlot(of: name)
      logger.warning(
        "a campaign's audience cannot be read", metadata: ["campaign": "\(name)"].merging(error.logged) { $1 })
    }
  }

  /// All pages of an audience. A page has as many users as take a part of the time that a statement has; one that takes all of it is
  /// asked again with fewer.
  private func enrol(
    _ name: String, _ definition: CampaignDefinition, areNew: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (enrolled: Int, moved: Int) {
    var (enrolled, moved) = (0, 0)
    var last: HostID?
    while !isStopped {
      let begunAt = Reactor.now
      do throws(PostgresError) {
        let page = try await audiences.enrolSlots(
          of: name, defaults: definition.userSlots, areNew: areNew, after: last, usersMax: enrolUsers,
          lead: catalogue.lead, on: reactor)
        enrolled += page.enrolled
        moved += page.moved
        if page.enrolled > 0 { renderPause.signal(on: reactor) }
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

  /// Renders batches, claimed together, rendered and written by campaign, until nothing is left. While one of many batches is made here, the database works for another. Where a model writes, there is
  /// one at a time: so many calls are made concurrently as the pace says.
  private func renderBatches(on reactor: isolated Reactor) async throws(PostgresError) {
    let first = try await renderBatch(on: reactor)
    guard first > 0, !isStopped else { return }
    var failure: PostgresError?
    let rest = {
      do throws(PostgresError) {
        while try await self.renderBatch(on: reactor) > 0, !self.isStopped {}
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
  private func renderBatch(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let slots = try await store.claimSlots(pace.slotsPerBatch, lease: pace.renderLease, on: reactor)
    for (campaign, rows) in Dictionary(grouping: slots, by: \.campaign) {
      var unwritten = rows
      if let definition = catalogue.ofSlots[campaign] {
        var outcome = try await renderer.render(
          rows, of: campaign, by: definition, isAhead: true, lead: catalogue.lead, on: reactor)
        if let task = definition.composer?.task {
          let written = await drafts.write(
            outcome.drafts, for: &outcome.rows, by: task, within: pace.draftLimit, on: reactor)
          metrics.countCode("TEXT_OF_MODEL", times: written, of: campaign)
          metrics.countCode("TEXT_OF_TEMPLATE", times: outcome.drafts.count - written, of: campaign)
        }
        if outcome.missingTokens > 0 {
          metrics.countCode("TEMPLATE_MISSING_TOKEN", times: outcome.missingTokens, of: campaign)
        }
        try await store.write(
          outcome.rows, of: campaign, advancing: catalogue.lead, tellsDevices: definition.contentURL != nil,
          on: reactor)
        // Nothing is written of what has moved; where it has not, after all, the claim would be made again and again.
        unwritten = rows.filter { outcome.moved.contains($0.userID) }
      }
      if !unwritten.isEmpty { try await store.advance(unwritten, of: campaign, lead: catalogue.lead, on: reactor) }
    }
    // What was rendered late may be due before the next look.
    if !slots.isEmpty { pushPause.signal(on: reactor) }
    return slots.count
  }

  /// - Returns: how many rows were due.
  private func pushBatch(_ rowsMax: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let rows = try await store.claimSlotRows(
      rowsMax, waitingMax: pace.rowsPerBatch(at: pace.rowsPerSecond), lease: pace.lease, grace: pace.grace, on: reactor)
    for (campaign, rows) in Dictionary(grouping: rows, by: \.campaign) {
      try await push(rows, of: campaign, on: reactor)
    }
    return rows.count
  }

  private func push(_ rows: [SlotRow], of campaign: String, on reactor: isolated Reactor) async throws(PostgresError) {
    let definition = catalogue.ofSlots[campaign]
    var decided: [RenderedRow] = []
    var open: [SlotRow] = []
    for row in rows {
      if row.isLate {
        decided.append(RenderedRow(row, nil, refusal: "too_late"))
      } else if row.attempts > pace.attemptsMax {
        decided.append(RenderedRow(row, nil, refusal: "attempts_exhausted"))
      } else if definition == nil {
        decided.append(RenderedRow(row, nil, refusal: "campaign_inactive"))
      } else {
        open.append(row)
      }
    }
    if let definition, !open.isEmpty {
      let outcome = try await renderer.render(
        open, of: campaign, by: definition, isAhead: false, lead: catalogue.lead, on: reactor)
      decided += outcome.rows
    }
    let outcomes = try await store.commit(
      decided, of: campaign, way: definition?.way.rawValue ?? SlotWay.push.rawValue, on: reactor)
    for (status, reason) in outcomes.values { metrics.countRow(status: status, reason: reason, of: campaign) }
    if outcomes.values.contains(where: { $0.status == "sent" }) { queued(reactor) }
  }
}
