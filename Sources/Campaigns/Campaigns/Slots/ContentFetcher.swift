internal import HTTPTransfers
internal import HTTPTypes
package import Logging
package import Postgres
package import PushStore
package import Reactors

/// Fetches documents of slot campaigns from their hosts, on one reactor.
///
/// A document has one attempt a day, when the first slot that it is for is due within the lead, by whichever process claims it
/// first. There is no retry: until the next day the last document serves while it is fresh.
package final class ContentFetcher {
  private let store: PushDatabase
  private let configuration: ContentConfiguration
  private let transfers: HTTPTransferClient
  private let metrics: CampaignMetrics
  private let logger: Logger

  /// Makes a fetcher without connections. Use all other members on the same reactor.
  package init(
    store: PushDatabase, configuration: ContentConfiguration = ContentConfiguration(),
    metrics: CampaignMetrics = CampaignMetrics(), logger: Logger, on reactor: isolated Reactor
  ) {
    self.store = store
    self.configuration = configuration
    self.metrics = metrics
    self.logger = logger
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
  }

  /// Makes the fetches that are due. In the mode `offline_first` there are none.
  ///
  /// Begins fetches for at most ``ContentConfiguration/roundLimit``. What is left is claimed by the next call within the lead.
  /// - Returns: the documents that have changed, or could not be used before: rows that are not pushed yet are rendered anew.
  package func refresh(
    _ rows: [SlotRow], of campaign: String, at url: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentKey] {
    guard !rows.isEmpty else { return [] }
    let flags = try await store.configFlags(on: reactor)
    guard flags.mode == .onlineFirst else { return [] }
    guard let source = ContentSource(url) else {
      logger.error("a campaign's content URL cannot be used", metadata: ["campaign": "\(campaign)"])
      return []
    }
    let round = FetchRound(campaign, source, timeToLive: flags.timeToLive)
    let until = Reactor.now + configuration.roundLimit.clampedNanoseconds
    repeat {
      let due = try await store.claimContents(
        for: rows, of: campaign, at: url, isPerUser: source.isPerUser, lead: flags.lead,
        contentsMax: configuration.fetchesMax, on: reactor)
      if due.isEmpty { break }
      try await fetch(due, in: round, on: reactor)
    } while Reactor.now < until
    if !round.failures.isEmpty {
      logger.warning(
        "content was not fetched, and stored content serves while it is fresh",
        metadata: ["campaign": "\(campaign)", "codes": "\(round.failureText)"])
    }
    return round.changed
  }

  /// Cancels all fetches and closes all connections. Idempotent.
  package func close(on reactor: isolated Reactor) {
    transfers.close(on: reactor)
  }
}

// Fetches that were claimed together.
extension ContentFetcher {
  private func fetch(
    _ due: [DueContent], in round: FetchRound, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    round.begin(due.count)
    for content in due { reactor.start { await self.fetch(content, in: round, on: reactor) } }
    _ = await round.ended.wait(on: reactor)
    if let error = round.error { throw error }
  }

  private func fetch(_ due: DueContent, in round: FetchRound, on reactor: isolated Reactor) async {
    let answer = await answer(to: due, from: round.source, on: reactor)
    metrics.countCode(answer.code.rawValue, of: round.campaign)
    do throws(PostgresError) {
      try await record(answer, to: due, in: round, on: reactor)
    } catch {
      round.error = error
    }
    round.end(on: reactor)
  }

  private func answer(
    to due: DueContent, from source: ContentSource, on reactor: isolated Reactor
  ) async -> ContentAnswer {
    guard let url = source.url(for: due.key.userID) else { return .failure(.unusableURL) }
    var fields: HTTPFields = [.accept: "application/json"]
    fields[.ifNoneMatch] = due.etag
    fields[.authorization] = configuration.authorization?.text
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: url, fields: fields, deadline: configuration.limit, bodyBytesMax: configuration.documentBytesMax)
      return ContentAnswer(try await transfers.send(request, on: reactor), isConditional: due.etag != nil)
    } catch {
      return ContentAnswer(error)
    }
  }

  private func record(
    _ answer: ContentAnswer, to due: DueContent, in round: FetchRound, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let isChanged: Bool
    switch answer {
    case .document(let text, let etag):
      isChanged = try await store.store(
        text, etag: etag, from: due, of: round.campaign, at: round.source.url, timeToLive: round.timeToLive, on: reactor
      )
    case .unchanged:
      isChanged = try await store.confirm(due, of: round.campaign, timeToLive: round.timeToLive, on: reactor)
    case .failure(let code):
      isChanged = false
      round.failures[code, default: 0] += 1
      try await store.fail(due, of: round.campaign, code: code.rawValue, on: reactor)
    }
    if isChanged { round.changed.append(due.key) }
  }
}

/// The fetches of one call, and what they have brought.
private final class FetchRound {
  let campaign: String
  let source: ContentSource
  let timeToLive: Duration
  /// Given when no fetch is under way.
  let ended = Signal()
  private var count = 0
  var changed: [ContentKey] = []
  var failures: [ContentCode: Int] = [:]
  /// The last failure to record an answer.
  var error: PostgresError?

  init(_ campaign: String, _ source: ContentSource, timeToLive: Duration) {
    self.campaign = campaign
    self.source = source
    self.timeToLive = timeToLive
  }

  /// How often each code occurred.
  var failureText: String {
    failures.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
  }

  func begin(_ fetches: Int) { count += fetches }

  func end(on reactor: isolated Reactor) {
    count -= 1
    if count == 0 { ended.signal(on: reactor) }
  }
}

extension PushDatabase {
  /// What is stored for rows of a campaign. Nothing is fetched.
  /// - Parameter url: the campaign's, in which `{user_id}` may be a part of the path or the query.
  /// - Returns: an outcome for each row, in their order.
  func storedContents(
    for rows: [SlotRow], of campaign: String, at url: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentOutcome] {
    let isPerUser = ContentSource.isPerUser(url)
    let keys = rows.map { ContentKey(slot: $0.slot, userID: isPerUser ? $0.userID : nil) }
    let outcomes = try await contents(Array(Set(keys)), of: campaign, on: reactor)
    return keys.map { outcomes[$0] ?? .unavailable("content_missing") }
  }
}
