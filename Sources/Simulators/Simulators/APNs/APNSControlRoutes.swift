internal import HTTP1
internal import HTTPTypes
internal import Reactors

struct APNSControlRoutes: Sendable {
  let desk: ControlDesk

  var service: SimulatedService { desk.service }
  var connections: ConnectionDirectory { desk.connections }

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addDevices(to: &routes)
    addPushes(to: &routes)
    addActivities(to: &routes)
    addServer(to: &routes)
    addFaults(to: &routes)
    return routes
  }
}

extension APNSControlRoutes {
  /// The most devices shown. The response has their total.
  private static let devicesShownMax = 10_000

  private struct DeviceList: Encodable {
    let tokens: [APNSDeviceDocument]
    let total: Int
  }

  func addDevices(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.get, "/tokens") { _, _ in try ControlAnswer.json(Self.devices(of: service)) }
    routes.add(.put, "/tokens/{token}") { request, _ in
      try desk.register(APNSDeviceDocument.read(request.body), token: request.parameter("token"))
      return ControlAnswer.done
    }
    routes.add(.delete, "/tokens/{token}") { request, _ in
      let token = request.parameter("token")
      guard service.removeToken(token) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
  }

  private static func devices(of service: SimulatedService) -> DeviceList {
    let devices = service.withRegistry { $0.devices }
    let shown = devices.sorted { $0.key < $1.key }.prefix(devicesShownMax)
    return DeviceList(tokens: shown.map { APNSDeviceDocument($0.value, token: $0.key) }, total: devices.count)
  }
}

extension APNSControlRoutes {
  private struct Health: Encodable {
    let status = "ok"
    let pushes: Int
    let connections: Int
  }

  private struct Connections: Encodable {
    let opened: Int
    let refused: Int
    let open: [ConnectionSummary]
  }

  func addServer(to routes: inout HTTPRoutes) {
    let (service, connections) = (service, connections)
    routes.add(.get, "/healthz") { _, _ in
      try ControlAnswer.json(Health(pushes: service.withLog { $0.total }, connections: connections.open.count))
    }
    routes.add(.get, "/connections") { _, _ in
      let (opened, refused) = (connections.openedCount, connections.refusedCount)
      return try ControlAnswer.json(Connections(opened: opened, refused: refused, open: connections.open))
    }
    addRegistrations(to: &routes)
    addConduct(to: &routes)
  }

  private func addRegistrations(to routes: inout HTTPRoutes) {
    let desk = desk
    routes.post("/keys") { (key: KeyDocument) in try desk.register(key) }
    routes.post("/bundles") { (bundle: BundleDocument) in desk.register(bundle) }
    routes.post("/certificates") { (certificate: CertificateDocument) in try desk.register(certificate) }
  }

  private func addConduct(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.post("/clock") { (clock: ClockDocument) in try desk.move(clock) }
    routes.add(.get, "/conduct") { _, _ in
      try ControlAnswer.json(APNSConductDocument(service.conduct, service.withRegistry { $0.tokenRate }))
    }
    routes.post("/conduct") { (conduct: APNSConductDocument) in try desk.change(conduct) }
  }
}

extension HTTPRoutes {
  /// A route that takes a document and has no content in its response.
  fileprivate mutating func post<Document: ControlDocument>(
    _ path: String, _ take: @escaping @Sendable (Document) throws -> Void
  ) {
    add(.post, path) { request, _ in
      try take(Document.read(request.body))
      return ControlAnswer.done
    }
  }
}

extension APNSControlRoutes {
  /// The default limit of a wait, in milliseconds: longer than any push should take.
  private static let waitDefaultMilliseconds = 10_000
  private static let waitMaxMilliseconds = 600_000

  private struct PushPage: Encodable {
    let pushes: [APNSPushRecord]
    let next: Int
  }

  private struct Totals: Encodable {
    let total: Int
    let outcomes: [String: Int]
    let unprocessed: Int
  }

  private struct Screen: Encodable {
    let lines: [PushScreen.Line]
  }

  private struct Lint: Encodable {
    let counts: [String: Int]
    let findings: [LintLog.Entry]
  }

  func addPushes(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/pushes") { request, _ in
      let query = try Self.query(request)
      let page = service.withLog { $0.records(query) }
      return try ControlAnswer.json(PushPage(pushes: page.records, next: page.next))
    }
    routes.add(.delete, "/pushes") { _, _ in
      service.withLog { $0.removeAll() }
      return ControlAnswer.done
    }
    routes.add(.get, "/pushes/wait") { request, reactor in try await Self.wait(request, for: service, on: reactor) }
    routes.add(.get, "/screen") { _, _ in try ControlAnswer.json(Screen(lines: service.withLog { $0.screen.visible })) }
    routes.add(.get, "/lint") { _, _ in
      let lint = service.lint
      let counts = Dictionary(uniqueKeysWithValues: lint.counts.map { ($0.key.rawValue, $0.value) })
      return try ControlAnswer.json(Lint(counts: counts, findings: lint.entries))
    }
  }

  private static func query(_ request: HTTPServerRequest) throws(ProblemDetails) -> PushQuery {
    var query = PushQuery()
    query.after = try request.queryNumber("after") ?? 0
    query.limit = try request.queryNumber("limit") ?? PushQuery.limitDefault
    query.token = request.head.queryValue("token")
    query.collapseID = request.head.queryValue("collapse_id")
    query.identifier = request.head.queryValue("apns_id")
    return query
  }

  private static func wait(
    _ request: HTTPServerRequest, for service: SimulatedService, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    guard let count = try request.queryNumber("count") else {
      throw ProblemDetails.unfit("count is how many pushes to wait for")
    }
    let milliseconds = try request.queryNumber("timeout_ms") ?? waitDefaultMilliseconds
    let limit = Duration.milliseconds(min(milliseconds, waitMaxMilliseconds))
    guard await service.waitForPushes(count, within: limit, on: reactor) else {
      throw ProblemDetails(.requestTimeout, detail: "\(service.withLog { $0.total }) of \(count) pushes came in time")
    }
    return try ControlAnswer.json(totals(of: service))
  }

  private static func totals(of service: SimulatedService) -> Totals {
    let (total, outcomes) = service.withLog { ($0.total, $0.outcomes) }
    return Totals(total: total, outcomes: outcomes, unprocessed: service.unprocessed)
  }
}

extension APNSControlRoutes {
  private struct Struck: Encodable {
    let connections: Int
  }

  private struct Faults: Encodable {
    let waiting: [APNSFaultDocument]
    let met: [FaultRecord]
  }

  func addFaults(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.post, "/faults") { request, reactor in
      let struck = try desk.arrange(APNSFaultDocument.read(request.body), on: reactor)
      return try struck.map { try ControlAnswer.json(Struck(connections: $0)) } ?? ControlAnswer.done
    }
    routes.add(.get, "/faults") { _, _ in
      let waiting = service.withFaults { $0.entries.map { APNSFaultDocument($0) } }
      return try ControlAnswer.json(Faults(waiting: waiting, met: service.metFaults))
    }
    routes.add(.delete, "/faults") { _, _ in
      service.withFaults { $0.removeAll() }
      service.forgetMetFaults()
      return ControlAnswer.done
    }
  }
}

extension APNSControlRoutes {
  /// A megabyte with ordinary states. A script that wants more says so.
  private static let activitiesShownDefault = 100

  private struct ActivityList: Encodable {
    let activities: [ActivityDocument]
    let total: Int
    let dropped: [String: Int]
    let drops: [ActivityDropLog.Entry]
  }

  private struct UpdateToken: Encodable {
    let token: String
  }

  /// The conditions of a list. All must hold; nil is no condition.
  private struct ActivityQuery {
    let device: String?
    let activity: String?
    let limit: Int
    let history: Int

    init(_ request: HTTPServerRequest) throws(ProblemDetails) {
      device = request.head.queryValue("device")
      activity = request.head.queryValue("activity")
      limit = min(try request.queryNumber("limit") ?? activitiesShownDefault, ActivityBook.activitiesMax)
      history = min(try request.queryNumber("history") ?? .max, ActivityHistory.entriesMax)
    }

    func matches(_ shown: SimulatedActivity) -> Bool {
      if let device, shown.device != device { return false }
      if let activity, shown.identifier != activity { return false }
      return true
    }
  }

  func addActivities(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/activities") { request, _ in
      try ControlAnswer.json(Self.activities(ActivityQuery(request), of: service))
    }
    routes.add(.delete, "/activities") { _, _ in
      service.forgetActivities()
      return ControlAnswer.done
    }
    routes.add(.delete, "/activities/{activity}") { request, _ in
      guard service.dismissActivity(request.parameter("activity")) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
    routes.add(.post, "/activities/{activity}/token") { request, _ in
      try ControlAnswer.json(Self.renew(request, service))
    }
  }

  /// The newest that match, oldest first.
  private static func activities(_ query: ActivityQuery, of service: SimulatedService) -> ActivityList {
    let (all, drops) = service.withActivities { ($0.all, $0.drops) }
    let now = service.clock.now
    let shown = all.filter(query.matches)
    return ActivityList(
      activities: shown.suffix(query.limit).map { ActivityDocument($0, at: now, history: query.history) },
      total: shown.count, dropped: drops.counts.byWord, drops: drops.entries)
  }

  private static func renew(_ request: HTTPServerRequest, _ service: SimulatedService) throws -> UpdateToken {
    let wanted = request.body.isEmpty ? nil : try RenewalDocument.read(request.body).token
    if let wanted, !APNSInquiry.isDeviceToken(wanted) {
      throw ProblemDetails.unfit("a device token is an even number of hexadecimal digits")
    }
    guard let token = service.renewToken(of: request.parameter("activity"), to: wanted) else {
      throw ProblemDetails(.notFound, detail: "no such activity runs")
    }
    return UpdateToken(token: token)
  }
}

/// A new update token of an activity.
struct RenewalDocument: ControlDocument {
  /// Nil for a random one.
  var token: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token
  }
}

/// A Live Activity in responses: what its device shows.
struct ActivityDocument: Encodable {
  let activity: String
  let device: String
  let environment: SimulatedEnvironment
  let bundle: String
  let attributesType: String
  let attributes: ActivityJSON?
  let token: String?
  let state: ActivityJSON?
  let startedMilliseconds: Int64
  let isStale: Bool
  let isEnded: Bool
  let isDismissed: Bool
  let endedMilliseconds: Int64?
  let dismissedMilliseconds: Int64?
  let lastTimestamp: Int64?
  let staleDate: Int64?
  let relevanceScore: Double?
  let alerts: Int
  let lastAlert: ActivityJSON?
  let appliedCount: Int
  let applied: [AppliedPush]
  let dropped: [String: Int]

  private enum CodingKeys: String, CodingKey {
    case activity, device, environment, attributes, token, state, alerts, applied, dropped
    case bundle = "bundle_id"
    case attributesType = "attributes_type"
    case startedMilliseconds = "started_ms"
    case isStale = "stale"
    case isEnded = "ended"
    case isDismissed = "dismissed"
    case endedMilliseconds = "ended_ms"
    case dismissedMilliseconds = "dismissed_ms"
    case lastTimestamp = "last_timestamp"
    case staleDate = "stale_date"
    case relevanceScore = "relevance_score"
    case lastAlert = "last_alert"
    case appliedCount = "applied_count"
  }

  /// - Parameter history: the most pushes listed; the newest are.
  init(_ shown: SimulatedActivity, at now: WallInstant, history: Int) {
    activity = shown.identifier
    device = shown.device
    environment = shown.owner.environment
    bundle = shown.owner.bundle
    attributesType = shown.attributesType
    attributes = shown.attributes
    token = shown.token
    state = shown.state
    startedMilliseconds = shown.startedAt.milliseconds
    isStale = shown.isStale(at: now)
    isEnded = shown.endedAt(now) != nil
    isDismissed = shown.isDismissed(at: now)
    endedMilliseconds = shown.endedAt(now)?.milliseconds
    dismissedMilliseconds = shown.dismissedAt(now)?.milliseconds
    lastTimestamp = shown.lastTimestamp
    staleDate = shown.staleDate
    relevanceScore = shown.relevanceScore
    alerts = shown.alerts
    lastAlert = shown.lastAlert
    appliedCount = shown.history.count
    applied = shown.history.entries.suffix(history)
    dropped = shown.dropped.byWord
  }
}

extension [ActivityDrop: Int] {
  /// With the words of the control endpoint.
  var byWord: [String: Int] {
    Dictionary<String, Int>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
  }
}
