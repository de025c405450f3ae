internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import SimulationControl

struct ControlRoutes: Sendable {
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

extension ControlRoutes {
  /// The most devices shown. The response has their total.
  private static let devicesShownMax = 10_000

  private struct DeviceList: Encodable {
    let tokens: [DeviceDocument]
    let total: Int
  }

  func addDevices(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.get, "/tokens") { _, _ in try ControlAnswer.json(Self.devices(of: service)) }
    routes.add(.put, "/tokens/{token}") { request, _ in
      try desk.register(DeviceDocument.read(request.body), token: request.parameter("token"))
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
    return DeviceList(tokens: shown.map { DeviceDocument($0.value, token: $0.key) }, total: devices.count)
  }
}

extension ControlRoutes {
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
      try ControlAnswer.json(ConductDocument(service.conduct, service.withRegistry { $0.tokenRate }))
    }
    routes.post("/conduct") { (conduct: ConductDocument) in try desk.change(conduct) }
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

extension ControlRoutes {
  /// The default limit of a wait, in milliseconds: longer than any push should take.
  private static let waitDefaultMilliseconds = 10_000
  private static let waitMaxMilliseconds = 600_000

  private struct PushPage: Encodable {
    let pushes: [PushRecord]
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

extension ControlRoutes {
  private struct Struck: Encodable {
    let connections: Int
  }

  private struct Faults: Encodable {
    let waiting: [FaultDocument]
    let met: [FaultRecord]
  }

  func addFaults(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.post, "/faults") { request, reactor in
      let struck = try desk.arrange(FaultDocument.read(request.body), on: reactor)
      return try struck.map { try ControlAnswer.json(Struck(connections: $0)) } ?? ControlAnswer.done
    }
    routes.add(.get, "/faults") { _, _ in
      let waiting = service.withFaults { $0.entries.map { FaultDocument($0) } }
      return try ControlAnswer.json(Faults(waiting: waiting, met: service.metFaults))
    }
    routes.add(.delete, "/faults") { _, _ in
      service.withFaults { $0.removeAll() }
      service.forgetMetFaults()
      return ControlAnswer.done
    }
  }
}

extension ControlRoutes {
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
    if let wanted, !PushInquiry.isDeviceToken(wanted) {
      throw ProblemDetails.unfit("a device token is an even number of hexadecimal digits")
    }
    guard let token = service.renewToken(of: request.parameter("activity"), to: wanted) else {
      throw ProblemDetails(.notFound, detail: "no such activity runs")
    }
    return UpdateToken(token: token)
  }
}
