import Foundation
import HTTP1
import HTTPTypes
import Postgres
import PrometheusMetrics
import PushRules
import Reactors
import Synchronization
import TestIDs
import TestLogs
import TestPostgres
import Testing

@testable import Campaigns
@testable import PushStore

/// A database, a host that answers as it is told to, and processes that fetch from it.
struct ContentScene: Sendable {
  static let credential = "Bearer credential-of-the-content-tests"

  let coach: CoachScene
  let host: ScriptedHost
  let log = LogLines()
  let registry = PrometheusRegistry([MetricDescription("tacet_slot_codes_total", "", .counter)])
  let origin: String
  let user = HostID.new()

  /// Runs a test; everything is stopped afterwards.
  static func run(_ answers: ScriptedHost.Answer..., test: (ContentScene) async throws -> Void) async throws {
    try await run(answers, test: test)
  }

  static func run(_ answers: [ScriptedHost.Answer], test: (ContentScene) async throws -> Void) async throws {
    RunLogs.note(credential, as: .secret)
    let coach = try await CoachScene()
    let host = ScriptedHost(answers)
    let group = try ReactorGroup(count: 1)
    let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
    let service = try await HTTPService.start(
      host.routes, on: address, reactors: group.reactors, tls: nil, logger: RunLogs.logger)
    let scene = ContentScene(coach: coach, host: host, origin: "http://\(service.address)")
    let result: Result<Void, any Error>
    do {
      result = .success(try await test(scene))
    } catch {
      result = .failure(error)
    }
    host.release()
    _ = await service.drain(within: .seconds(5))
    await group.stop()
    try result.get()
  }

  var url: String { origin + "/content" }

  func source(_ more: String = "") throws -> ContentSource { try #require(ContentSource(url + more)) }

  /// A row that is due in so many seconds.
  func row(_ slot: String = "0800", in seconds: Double = 600, date: String = "2026-11-23") -> Occasion {
    let fireAt = Int64((Date().timeIntervalSince1970 + seconds) * 1_000_000)
    return Occasion(
      campaign: "daily", userID: user, slot: slot, fireDate: date, fireAt: fireAt, timeZone: "Europe/Vienna")
  }

  /// Rows of so many users that are due in ten minutes.
  func rows(_ count: Int) -> [Occasion] {
    let first = row()
    return (0..<count).map { _ in
      Occasion(
        campaign: "daily", userID: .new(), slot: first.slot, fireDate: first.fireDate, fireAt: first.fireAt,
        timeZone: first.timeZone)
    }
  }

  /// What rows of a slot have, after the fetch that is due.
  @discardableResult
  func content(_ rows: Occasion..., isPrivateAllowed: Bool = true) async throws -> [ContentOutcome] {
    let source = try source()
    try await withFetcher(isPrivateAllowed: isPrivateAllowed) {
      try await $0.refresh(rows, of: "daily", from: source, on: $1)
    }
    return try await coach.withStore { try await $0.contents(for: rows, of: "daily", isPerUser: false, on: $1) }
  }

  /// Runs a body with the fetcher of another process.
  func withFetcher<Value: Sendable>(
    isPrivateAllowed: Bool = true, limit: Duration = .seconds(20), roundLimit: Duration = .seconds(20),
    _ body: @escaping @Sendable (ContentFetcher, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    try await coach.withStore { store, reactor in
      var configuration = ContentConfiguration()
      configuration.authorization = Secret(Self.credential)
      configuration.allowsPrivateAddresses = isPrivateAllowed
      configuration.limit = limit
      configuration.roundLimit = roundLimit
      let fetcher = ContentFetcher(
        store: store, configuration: configuration, metrics: CampaignMetrics(registry), logger: log.logger, on: reactor)
      defer { fetcher.close(on: reactor) }
      return try await body(fetcher, reactor)
    }
  }

  /// Runs a body with a runner that fetches, and with a scheduler.
  func withRunner(
    _ body: @escaping @Sendable (CampaignRunner, SlotScheduler, isolated Reactor) async throws -> Void
  ) async throws {
    try await coach.withStore { store, reactor in
      var configuration = ContentConfiguration()
      configuration.allowsPrivateAddresses = true
      let metrics = CampaignMetrics(registry)
      let fetcher = ContentFetcher(
        store: store, configuration: configuration, metrics: metrics, logger: log.logger, on: reactor)
      defer { fetcher.close(on: reactor) }
      let runner = CampaignRunner(
        store: store, contents: fetcher, writer: nil, limits: .ample, metrics: metrics, logger: log.logger,
        queued: { _ in })
      try await body(runner, SlotScheduler(store: store, metrics: metrics, logger: log.logger), reactor)
    }
  }

  /// A campaign that says what the host does, to one user, in ten minutes.
  func addCampaign() async throws -> HostID {
    let user = try await coach.addUser(zone: "UTC")
    try await coach.sql(
      """
      insert into tacet.campaigns (is_scheduled, needs_no_session, name, audience, material, push_types, definition)
      select false, false, 'daily', 'tacet.check_in_audience', 'tacet.hydration_material', '{daily}', jsonb_build_object(
        'slots', jsonb_build_array(jsonb_build_object(
          'slot', to_char(now() at time zone 'UTC' + interval '10 min', 'HH24MI'))),
        'content', jsonb_build_object('url', '\(url)'),
        'texts', '[{"title": "{{headline}}", "body": "{{summary}}"}]'::jsonb)
      """)
    return user
  }

  /// What the row of the day says in the end: its status, its reason, and its push's title and body.
  func pushed(by runner: CampaignRunner, on reactor: isolated Reactor) async throws -> String {
    try await coach.sql(
      """
      update tacet.occasions set fire_at = clock_timestamp(), available_at = clock_timestamp()
      where fire_at < clock_timestamp() + interval '20 min' and status = 'scheduled'
      """)
    _ = await runner.decideAll(.slots, on: reactor)
    return try await coach.sql(
      """
      select d.status, d.reason, p.title, p.body from tacet.occasions d left join tacet.pushes p on p.id = d.push_id
      where d.status <> 'scheduled' order by d.fire_date desc limit 1
      """)
  }

  /// Makes everything a day older, so that the slot of the next day is due in ten minutes.
  func passDay() async throws {
    try await coach.sql(
      """
      delete from tacet.occasions where status = 'scheduled';
      update tacet.occasions set fire_date = fire_date - 1, fire_at = fire_at - interval '1 day';
      update tacet.slots
      set next_fire_at = next_fire_at - interval '1 day', fire_date = fire_date - 1,
        available_at = available_at - interval '1 day';
      update tacet.notif_contents
      set fire_date = fire_date - 1, content_date = content_date - 1, attempted_at = attempted_at - interval '1 day',
        fetched_at = fetched_at - interval '1 day', fresh_until = fresh_until - interval '1 day'
      """)
  }

  /// How often each code was counted.
  var codes: [String: Int] {
    let samples = ExpositionText.make(registry.collect()).split(separator: "\n")
    return samples.reduce(into: [:]) { counts, line in
      guard let match = line.firstMatch(of: /code="([A-Z_]+)".* (\d+)$/) else { return }
      counts[String(match.1), default: 0] += Int(match.2) ?? 0
    }
  }

  /// Expressions of the one row of `tacet.notif_contents`.
  func stored(_ expressions: String) async throws -> String {
    try await coach.sql("select \(expressions) from tacet.notif_contents")
  }

  /// Makes the last answer so old.
  func age(_ interval: String) async throws {
    try await coach.sql(
      """
      update tacet.notif_contents
      set fetched_at = fetched_at - interval '\(interval)', fresh_until = fresh_until - interval '\(interval)',
        content_date = current_date - 2
      """)
  }
}

/// Gives its answers in order, the last one again and again, and remembers the requests.
final class ScriptedHost: Sendable {
  enum Answer: Sendable {
    case document(String, etag: String? = nil)
    case status(Int, location: String? = nil)
    /// No answer until the end of the test.
    case silence
  }

  struct Request: Sendable {
    let target: String
    let ifNoneMatch: String?
    let authorization: String?
  }

  private struct State {
    var answers: [Answer]
    var requests: [Request] = []
    var isReleased = false
    var silent: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ answers: [Answer]) { state = Mutex(State(answers: answers)) }

  var requests: [Request] { state.withLock { $0.requests } }

  var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    for pattern in ["/content", "/content/{user}"] {
      routes.add(.get, pattern) { [self] request, _ in await answer(to: request.head) }
    }
    return routes
  }

  /// Ends every silence.
  func release() {
    let silent = state.withLock { state in
      defer { state.silent = [] }
      state.isReleased = true
      return state.silent
    }
    for continuation in silent { continuation.resume() }
  }

  private func answer(to head: RequestHead) async -> HTTPServerResponse {
    let answer = state.withLock { state in
      state.requests.append(
        Request(
          target: head.target, ifNoneMatch: head.fields[.ifNoneMatch], authorization: head.fields[.authorization]))
      return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
    }
    switch answer {
    case .document(let text, let etag):
      var fields: HTTPFields = [.contentType: "application/json"]
      fields[.eTag] = etag
      return HTTPServerResponse(status: .ok, fields: fields, body: Array(text.utf8))
    case .status(let code, let location):
      var fields: HTTPFields = [:]
      fields[.location] = location
      return HTTPServerResponse(status: HTTPResponse.Status(code: code), fields: fields)
    case .silence:
      await withCheckedContinuation { continuation in
        let isReleased = state.withLock { state in
          if !state.isReleased { state.silent.append(continuation) }
          return state.isReleased
        }
        if isReleased { continuation.resume() }
      }
      return HTTPServerResponse(status: .noContent)
    }
  }
}
