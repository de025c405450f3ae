package import Logging
internal import Postgres
internal import PushRules
package import PushStore
package import Reactors

/// Runs the campaigns: enrols users, prepares what slots say before it is due, and queues the pushes of all occasions that are.
///
/// Each process has one, beside the pipeline that sends the queued pushes. Any number may share a database: each hour is served
/// once, slots and occasions are leased, and a commit queues the push of an occasion in the transaction that ends it. When a
/// process dies, others take over as soon as its leases expire.
package final class CampaignRunner {
  /// What is done concurrently: nothing waits for a host's content, a model, or a whole audience but what needs it.
  enum Duty: Hashable {
    /// Enrols the users whose hour has come.
    case hours
    /// Gives users the slots of the campaigns whose audience they are in.
    case audiences
    /// Renders what slots will say.
    case preparation
    /// Decides and pushes what is due.
    case occasions(OccasionGroup)
    /// Has the texts written that events of watched rows wait for.
    case rowTexts

    static let all = [hours, audiences, preparation, rowTexts] + OccasionGroup.allCases.map(occasions)
  }

  let store: PushDatabase
  let audiences: PushDatabase
  let pace: CampaignPace
  let metrics: CampaignMetrics
  let logger: Logger
  let sleep: DatabaseSleep?
  let pauses: [Duty: WakefulPause]
  let renderer: OccasionRenderer
  let texts: ModelTexts
  let queued: (isolated Reactor) -> Void
  let hasMessages: () -> Bool
  private let ended = Signal()
  private(set) var isStopped = false
  private var isRunning = false
  private(set) var catalogue = CampaignCatalogue()
  private var catalogueReadAt: UInt64?
  /// When hours have failed that are left alone since.
  var failedHours: [CampaignHour: UInt64] = [:]
  /// When a campaign's audience was last followed.
  var followedAt: [String: UInt64] = [:]
  /// How fast what is due is decided at present.
  var rates: [OccasionGroup: DueRate] = [:]

  /// Makes a runner; ``run(on:)`` starts it.
  /// - Parameters:
  ///   - audiences: asks for whole audiences, which may take long; see ``PushDatabase/analysisPool(_:logger:)``.
  ///   - contents: fetches what campaigns with a content URL say; nil where nothing is fetched.
  ///   - writer: writes what campaigns with a composer say; nil without a language model.
  ///   - limits: the writer's daily budget.
  ///   - sleep: between its looks it is known when something is due, and nothing is asked before.
  ///   - hasMessages: whether messages come, to which pushes of campaigns give way.
  ///   - queued: called after pushes were queued, to wake the pipeline.
  package init(
    store: PushDatabase, audiences: PushDatabase? = nil, contents: ContentFetcher? = nil, writer: (any CheckInWriter)?,
    limits: ModelUsageLimits, pace: CampaignPace = CampaignPace(), metrics: CampaignMetrics = CampaignMetrics(),
    sleep: DatabaseSleep? = nil, hasMessages: @escaping () -> Bool = { false }, logger: Logger,
    queued: @escaping (isolated Reactor) -> Void
  ) {
    self.store = store
    self.audiences = audiences ?? store
    self.pace = pace
    self.metrics = metrics
    self.logger = logger
    self.hasMessages = hasMessages
    self.queued = queued
    self.sleep = sleep
    pauses = Dictionary(uniqueKeysWithValues: Duty.all.map { ($0, WakefulPause(sleep)) })
    texts = ModelTexts(store: store, writer: writer, limits: limits, logger: logger)
    renderer = OccasionRenderer(store: store, contents: contents, logger: logger)
  }

  /// Works until ``stop(on:)``.
  package func run(on reactor: isolated Reactor) async {
    isRunning = true
    // A page of an audience is not waited for: it is one statement, which the next process makes again.
    reactor.start { await self.work(.audiences, on: reactor) }
    let others = Duty.all.filter { $0 != .audiences }
    _ = await share(others, among: others.count, on: reactor) { await self.work($0, on: reactor) }
    isRunning = false
    ended.signal(on: reactor)
  }

  private func work(_ duty: Duty, on reactor: isolated Reactor) async {
    while !isStopped {
      // How long there is nothing to do; nil for ever, as far as is known.
      var idle: Duration?
      var longest = pace.lookInterval
      switch duty {
      case .hours:
        idle = await enrolHours(on: reactor)
        longest = pace.hourInterval * .random(in: 0.8...1.2)
      case .audiences: await followAudiences(on: reactor)
      case .preparation: idle = await prepareAll(on: reactor)
      case .occasions(let group): idle = await decideAll(group, on: reactor)
      case .rowTexts:
        await writeRowTexts(on: reactor)
        longest = pace.rowInterval
      }
      guard !isStopped else { return }
      let time = max(min(idle ?? longest, longest), .milliseconds(10))
      _ = await pauses[duty]?.wait(for: time, longest: idle.map { max($0 - time, .zero) }, on: reactor)
    }
  }

  /// Reads the campaigns anew and looks at once, because an operator has asked for a run.
  package func wake(on reactor: isolated Reactor) {
    catalogueReadAt = nil
    for pause in pauses.values { pause.signal(on: reactor) }
  }

  /// Begins no further batch. What is in progress is decided.
  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    for pause in pauses.values { pause.signal(on: reactor) }
  }

  /// Waits until what is in progress is decided, which takes as long as a model may, and cancels fetches that last longer.
  /// - Returns: false when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let isDone = isRunning ? await ended.wait(for: limit, on: reactor) : true
    renderer.contents?.close(on: reactor)
    return isDone
  }

  /// - Parameter age: at which the campaigns are read again.
  func updateCatalogue(after age: Duration, on reactor: isolated Reactor) async throws(PostgresError) {
    if let catalogueReadAt, Reactor.now - catalogueReadAt < age.clampedNanoseconds { return }
    let askedAt = Reactor.now
    let read = try await catalogue.updated(from: store, logger: logger, on: reactor)
    // Another duty may have asked later, and been answered before.
    guard catalogueReadAt.map({ $0 <= askedAt }) ?? true else { return }
    (catalogue, catalogueReadAt) = (read, askedAt)
  }

  /// Reads the campaigns anew where there are occasions of one that is not known: it may be active since they were read last.
  func know(campaignsOf occasions: [Occasion], on reactor: isolated Reactor) async throws(PostgresError) {
    guard occasions.contains(where: { catalogue.definitions[$0.campaign] == nil }) else { return }
    try await updateCatalogue(after: .zero, on: reactor)
  }

  /// Whether there are campaigns with slots, or were: what is left of them is ended.
  func hasSlots(on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    try await updateCatalogue(after: pace.catalogueInterval, on: reactor)
    return !(catalogue.ofSlots.isEmpty && followedAt.isEmpty)
  }

  /// - Returns: how long to leave the database alone.
  @discardableResult
  func failed(_ error: PostgresError) -> Duration {
    logger.warning("campaigns cannot run; trying again later", metadata: ["error": "\(error)"])
    return pace.retryWait
  }

  /// Has the texts written that events of watched rows wait for.
  func writeRowTexts(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      while !isStopped, try await texts.writeRows(on: reactor) > 0 { queued(reactor) }
    } catch {
      logger.warning("texts of rows cannot be written; trying again later", metadata: ["error": "\(error)"])
    }
  }
}
