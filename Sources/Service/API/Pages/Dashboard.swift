internal import FoundationEssentials
package import HTTP1
internal import HTTPTypes
package import Logging
package import Operations
internal import Postgres
package import PushRules
internal import PushStore
package import Reactors

/// Tells the story of an event's pushes: of all recipients, or of one.
package typealias ExplanationSource =
  @Sendable (_ subjectID: HostID, _ userID: HostID?, isolated Reactor) async throws -> [EventExplanation]

/// The pages under `/dashboard`, for the operator.
///
/// They are for people, and programs have the operations and `/metrics`; so `openapi.yaml`, which describes what programs
/// may rely on, does not have them. That is also why they are no routes of `PushRoutes`, all of which it describes.
package enum DashboardRoutes {
  /// Adds the pages to a service's routes.
  /// - Parameters:
  ///   - serviceKeys: any of which lets the operator in; without a key, the pages say how to set one.
  ///   - isTLS: whether the service itself is reached by TLS.
  ///   - routes: what this process knows of its routes to APNs.
  ///   - explanations: tells why a push came or did not.
  package static func add(
    to table: inout HTTPRoutes, services: PerReactor<PushServices>, serviceKeys: [String], isTLS: Bool,
    routes: @escaping @Sendable () async -> [RouteCondition],
    explanations: @escaping ExplanationSource, logger: Logger
  ) {
    let dashboard = Dashboard(
      services: services, sessions: DashboardSessions(serviceKeys), isTLS: isTLS,
      failures: FailureGate(for: "service key of a log-in", logger: logger), routes: routes,
      explanations: explanations, logger: logger)
    func page(_ path: String, _ handler: @escaping HTTPHandler) {
      table.add(
        .get, path, bodyBytesMax: FormBody.bytesMax, handler: { try await dashboard.inside($0, on: $1, handler) })
    }
    func form(_ path: String, _ handler: @escaping HTTPHandler) {
      table.add(
        .post, path, mediaTypes: ["application/x-www-form-urlencoded"], bodyBytesMax: FormBody.bytesMax,
        handler: { request, reactor in
          guard request.head.comesFromOwnPage else { return dashboard.refuseForm() }
          return try await handler(request, reactor)
        })
    }
    page(DashboardLink.overview) { try await dashboard.overview($0, on: $1) }
    page(DashboardLink.pushes) { try await dashboard.pushes($0, on: $1) }
    page(DashboardLink.explanation) { try await dashboard.explanation($0, on: $1) }
    page(DashboardLink.engagement) { try await dashboard.engagement($0, on: $1) }
    page(DashboardLink.events) { try await dashboard.events($0, on: $1) }
    form(DashboardLink.retryEvents) { request, reactor in
      try await dashboard.inside(request, on: reactor) { try await dashboard.retryEvents($0, on: $1) }
    }
    form(DashboardLink.search) { request, reactor in
      try await dashboard.inside(request, on: reactor) { try await dashboard.search($0, on: $1) }
    }
    form(DashboardLink.login) { request, _ in dashboard.logIn(request) }
    form(DashboardLink.logout) { request, _ in dashboard.logOut(request) }
    table.add(
      .get, DashboardLink.login, bodyBytesMax: FormBody.bytesMax,
      immediate: { request, _ in dashboard.loginForm(request) })
    table.add(.get, DashboardLink.style, bodyBytesMax: FormBody.bytesMax, immediate: { _, _ in Page.styles() })
  }
}

enum DashboardLink {
  static let overview = "/dashboard"
  static let login = "/dashboard/login"
  static let logout = "/dashboard/logout"
  static let search = "/dashboard/search"
  static let pushes = "/dashboard/pushes"
  static let explanation = "/dashboard/explain"
  static let engagement = "/dashboard/engagement"
  static let events = "/dashboard/events"
  static let retryEvents = "/dashboard/events/retry"
  static let style = "/dashboard/style.css"

  static func login(then target: String) -> String {
    target == overview ? login : address(login, [("then", target)])
  }

  static func pushes(ofUser id: HostID, after last: LedgerEntry? = nil) -> String {
    address(
      pushes,
      [("user_id", text(id))] + (last.map { [("time", String($0.enqueuedAt)), ("after", $0.id.lowercased)] } ?? []))
  }

  static func pushes(ofSubject id: HostID, after last: LedgerEntry? = nil) -> String {
    address(
      pushes, [("subject_id", text(id))] + (last.map { [("after", text($0.userID)), ("kind", $0.kind)] } ?? []))
  }

  /// Why a push came or did not; of all recipients without a user.
  static func explanation(of subject: HostID, kind: String, userID: HostID?) -> String {
    address(
      explanation, [("subject_id", text(subject)), ("kind", kind)] + (userID.map { [("user_id", text($0))] } ?? []))
  }

  /// Whether a text is an address of ours to go to after the log-in; anything else could lead away.
  static func isPage(_ target: String) -> Bool {
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else { return false }
    return target == overview || target.hasPrefix(overview + "/") || target.hasPrefix(overview + "?")
  }

  private static func address(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
    path + "?" + parameters.map { "\($0.name)=\(encoded($0.value))" }.joined(separator: "&")
  }

  /// Everything but the unreserved characters of RFC 3986 is encoded.
  private static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { encoded, byte in
      let character = Character(UnicodeScalar(byte))
      if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
        encoded.append(character)
      } else {
        encoded += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  private static func text(_ id: HostID) -> String { id.text }
}

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
    let (conditions, checks) = (await routes(), await services.readiness())
    return OverviewPage(
      overview: overview, routes: RouteReport.all(conditions, overview?.lanes ?? []),
      faults: ProcessFault.all(checks), isLive: request.head.queryValue("live") != "no", now: Self.now
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

// Finding pushes.
extension Dashboard {
  /// Registrations that a search by device token shows at the most.
  private static let ownersMax = 20

  /// Leads to what was meant. Sent as a form, because a device token must not be part of an address, which browsers and
  /// proxies keep.
  func search(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let text = FormBody(request.body)?["q"] ?? ""
    let store = services.value(on: reactor).operators
    switch SearchTerm(text, store.idTypes) {
    case .id(let id): return try await pushes(of: id, store, on: reactor) ?? Self.noPush(id)
    case .deviceToken(let beginning): return try await owners(beginning, store, on: reactor)
    case .either(let id, let beginning):
      if let known = try await pushes(of: id, store, on: reactor) { return known }
      return try await owners(beginning, store, on: reactor)
    case nil:
      return Self.nothing(
        "Search for a user id, a message id, or eight or more digits from the beginning of a device token.", "",
        title: "That is no id", .badRequest)
    }
  }

  /// Leads to the pushes of an id; nil where the ledger has none.
  private func pushes(
    of id: HostID, _ store: PushDatabase, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse? {
    let types = store.idTypes
    let meaning = try await store.meaning(ofID: (types.subjects.id(id.text), types.users.id(id.text)), on: reactor)
    if meaning.isSubject { return Page.redirect(to: DashboardLink.pushes(ofSubject: id)) }
    return meaning.isUser ? Page.redirect(to: DashboardLink.pushes(ofUser: id)) : nil
  }

  private static func noPush(_ id: HostID) -> HTTPServerResponse {
    nothing("No push has this id as its user, its message or another subject.", id.text)
  }

  /// Leads to the pushes of a device token's owner.
  private func owners(
    _ beginning: String, _ store: PushDatabase, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let owners = try await store.owners(ofDeviceToken: beginning, countMax: Self.ownersMax, on: reactor)
    let users = Set(owners.map(\.userID))
    if users.count == 1, let user = users.first { return Page.redirect(to: DashboardLink.pushes(ofUser: user)) }
    if !users.isEmpty { return Self.choice(owners) }
    return Self.nothing("No registered device token begins like this.", String(beginning.prefix(8)))
  }

  /// A user's pushes, or the recipients of an event.
  func pushes(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let store = services.value(on: reactor).operators
    let head = request.head
    if let user = head.id("user_id", of: store.idTypes.users) {
      let after = head.queryValue("after").flatMap { UUID(hyphenated: $0) }
      let last = head.number("time").flatMap { time in after.map { (time, $0) } }
      let page = try await store.pushes(ofUser: user, after: last, size: Self.pageRows, on: reactor)
      return PushListPage(
        title: "Pushes to", id: user, ledger: page, isUser: true, isFirst: last == nil,
        next: page.entries.last.map { DashboardLink.pushes(ofUser: user, after: $0) }
      ).page.response()
    }
    guard let subject = head.id("subject_id", of: store.idTypes.subjects) else { return Self.notAnID }
    let last = head.id("after", of: store.idTypes.users).flatMap { user in head.queryValue("kind").map { (user, $0) } }
    let page = try await store.pushes(ofSubject: subject, after: last, size: Self.pageRows, on: reactor)
    return PushListPage(
      title: "Recipients of", id: subject, ledger: page, isUser: false, isFirst: last == nil,
      next: page.entries.last.map { DashboardLink.pushes(ofSubject: subject, after: $0) }
    ).page.response()
  }

  private static func nothing(
    _ text: String, _ term: String, title: String = "Nothing found", _ status: HTTPResponse.Status = .notFound
  ) -> HTTPServerResponse {
    Page(
      title: title, search: term, status: status, body: "<h1>\(title)</h1><p class=\"lead\">\(text)</p>"
    ).response()
  }

  private static func choice(_ owners: [DeviceTokenOwner]) -> HTTPServerResponse {
    let items = owners.map { owner -> HTML in
      let user = owner.userID.text
      return """
        <li>Device <code>\(owner.device)</code> of <a href="\(DashboardLink.pushes(ofUser: owner.userID))"><code>\(
        user)</code></a></li>
        """
    }
    return Page(
      title: "Devices", body: "<h1>Several devices begin like this</h1><ul class=\"choices\">\(items)</ul>"
    ).response()
  }
}

enum SearchTerm: Equatable {
  case id(HostID)
  /// Its beginning, in lower case.
  case deviceToken(String)
  /// Where ids may look like device tokens.
  case either(HostID, String)

  /// Digits that a beginning of a device token has at least: as many as are shown of one.
  private static let digitsMin = 8

  /// Reads what was typed; nil when it can be neither. Spaces around it, as they are copied along, do not count.
  init?(_ text: String, _ types: IDTypes = IDTypes()) {
    let text = text.trimmingPrefix(while: \.isWhitespace)
    let term = String(text.reversed().drop(while: \.isWhitespace).reversed())
    let id = types.users.id(term) ?? types.subjects.id(term)
    let token = Self.tokenBeginning(term.lowercased())
    switch (id, token) {
    case (let id?, let token?): self = .either(id, token)
    case (let id?, nil): self = .id(id)
    case (nil, let token?): self = .deviceToken(token)
    case (nil, nil): return nil
    }
  }

  private static func tokenBeginning(_ term: String) -> String? {
    let isToken =
      term.utf8.count >= digitsMin
      && term.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    return isToken ? term : nil
  }
}

extension RequestHead {
  func id(_ name: String, of type: IDTypes.IDType) -> HostID? { queryValue(name).flatMap { type.id($0) } }

  fileprivate func number(_ name: String) -> Int64? { queryValue(name).flatMap { Int64($0) } }
}
