internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// What the pages are made from, and who may see them.
struct Dashboard: Sendable {
  /// Rows of the overview's list, and of a page of the ledger.
  static let newestRows = 25
  static let pageRows = 50

  /// In microseconds.
  private static let week: Int64 = 7 * 86_400 * 1_000_000

  let services: PerReactor<PushServices>
  let sessions: DashboardSessions
  let isTLS: Bool
  let failures: FailureGate
  let routes: @Sendable () async -> [RouteCondition]
  let explanations: ExplanationSource
  let logger: Logger

  /// Answers logged-in operators, and redirects others to the log-in form.
  func inside(
    _ request: HTTPServerRequest, on reactor: isolated Reactor, _ handler: HTTPHandler
  ) async throws -> HTTPServerResponse {
    guard !sessions.isOff else { return LoginPage.setUp.response() }
    guard isLoggedIn(request) else {
      return Page.redirect(
        to: DashboardLink.login(then: request.head.method == .post ? DashboardLink.overview : request.head.target))
    }
    do {
      return try await handler(request, reactor)
    } catch let error as PostgresError {
      logFailure(error, of: request)
      return LoginPage.problem(
        "The database did not answer", "What it has to say is missing. Loading the page again may help.",
        .serviceUnavailable, isLoggedIn: true
      ).response([.retryAfter: "5"])
    }
  }

  /// How the service fares: as far as this process knows it by itself, when the database does not answer.
  func overview(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let services = services.value(on: reactor)
    let overview: ServiceOverview?
    do {
      overview = try await services.operators.overview(newest: Self.newestRows, on: reactor)
    } catch let error as PostgresError {
      logFailure(error, of: request)
      overview = nil
    }
    let conditions = await routes()
    return OverviewPage(
      overview: overview, routes: RouteReport.all(conditions, overview?.lanes ?? []),
      faults: ProcessFault.all(services.readiness()), isLive: request.head.queryValue("live") != "no", now: Self.now
    ).page.response()
  }

  /// How engaged users are. Counting may take too long; then the newest analysis is shown.
  func engagement(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let store = services.value(on: reactor).operators
    let analyses = try await store.engagementAnalyses(rowsMax: EngagementPage.analysesMax, on: reactor)
    let now = Self.now
    let current: EngagementFigures?
    do {
      current = try await store.engagement(in: now - Self.week..<now, on: reactor)
    } catch let error as PostgresError {
      logFailure(error, of: request)
      current = nil
    }
    return EngagementPage(current: current, analyses: analyses).page.response()
  }

  /// Events that the host has not taken.
  func events(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let store = services.value(on: reactor).operators
    return HostEventPage(events: try await store.hostEvents(HostEventPage.rowsMax, on: reactor)).page.response()
  }

  func retryEvents(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    try await services.value(on: reactor).callers.retryHostEvents(on: reactor)
    return Page.redirect(to: DashboardLink.events)
  }

  private func logFailure(_ error: PostgresError, of request: HTTPServerRequest) {
    logger.error("a page could not be made", metadata: ["route": "\(request.route)", "error": "\(error)"])
  }

  func explanation(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let (head, types) = (request.head, services.value(on: reactor).idTypes)
    let user = head.id("user_id", of: types.users)
    guard let subject = head.id("subject_id", of: types.subjects), user != nil || head.queryValue("user_id") == nil
    else { return Self.notAnID }
    let kind = head.queryValue("kind")
    let told = try await explanations(subject, user, reactor)
    return ExplanationPage(
      explanations: told.filter { kind == nil || $0.kind == kind }, subjectID: subject.text
    ).page.response()
  }

  /// What is answered when an address of ours was changed by hand.
  static let notAnID = LoginPage.problem(
    "That is no id", "An id is written as the database prints it, like 0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11 or 473.",
    .badRequest, isLoggedIn: true
  ).response()

  /// Microseconds since 1970.
  static var now: Int64 { TimeText.now }

  private func isLoggedIn(_ request: HTTPServerRequest) -> Bool {
    request.head.sessionCookies.contains { sessions.accepts($0, now: Self.now / 1_000_000) }
  }
}
