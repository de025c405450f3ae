internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import SimulationControl

struct ControlRoutes: Sendable {
  let service: SimulatedFCM

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addDevices(to: &routes)
    addProjects(to: &routes)
    addMessages(to: &routes)
    addFaults(to: &routes)
    addSettings(to: &routes)
    return routes
  }
}

extension ControlRoutes {
  /// What a device has received.
  private struct DeviceReport: Encodable {
    let online: Bool
    let delivered: [SimulatedDevice.Delivery]
    let waiting: Int
    let shown: Int
    let deletedMessages: Bool

    init(_ device: SimulatedDevice) {
      online = device.isOnline
      delivered = device.delivered
      waiting = device.waitingCount
      shown = device.shownCount
      deletedMessages = device.hasDeletedMessages
    }

    enum CodingKeys: String, CodingKey {
      case online, delivered, waiting, shown
      case deletedMessages = "deleted_messages"
    }
  }

  private func addDevices(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.put, "/tokens/{token}") { request, _ in
      let token = request.parameter("token")
      guard MessageInquiry.isWellFormed(token) else { throw ProblemDetails.unfit("a token is NAME:APA91b...") }
      try service.register(DeviceDocument.read(request.body), token)
      return ControlAnswer.done
    }
    routes.add(.get, "/tokens/{token}") { request, _ in
      let device = service.withBooks { $0.registry.devices[request.parameter("token")] }
      guard let device else { throw ProblemDetails(.notFound) }
      return try ControlAnswer.json(DeviceReport(device))
    }
    routes.add(.delete, "/tokens/{token}") { request, _ in
      guard service.withBooks({ $0.registry.removeDevice(request.parameter("token")) }) else {
        throw ProblemDetails(.notFound)
      }
      return ControlAnswer.done
    }
    routes.add(.post, "/tokens/{token}") { request, _ in
      let document = try ConnectionDocument.read(request.body)
      let isKnown = service.withBooks { books in
        let now = books.now
        return books.registry.withDevice(request.parameter("token")) { $0.setOnline(document.online, now: now) } != nil
      }
      guard isKnown else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
  }

  private func addProjects(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.put, "/projects/{project}") { request, _ in
      try service.add(ProjectDocument.read(request.body), request.parameter("project"))
      return ControlAnswer.done
    }
    routes.add(.post, "/accounts") { request, _ in
      try service.add(decodeControl(AccountDocument.self, from: request.body))
      return ControlAnswer.done
    }
    routes.add(.post, "/bearers") { request, _ in
      try service.add(BearerDocument.read(request.body))
      return ControlAnswer.done
    }
    routes.add(.delete, "/bearers") { _, _ in
      service.withBooks { $0.registry.removeBearers() }
      return ControlAnswer.done
    }
  }
}

extension ControlRoutes {
  /// The default limit of a wait, and the longest, in milliseconds.
  private static let (waitDefault, waitMax) = (10_000, 600_000)

  private static let (pageDefault, pageMax) = (1000, 10_000)

  private struct MessagePage: Encodable {
    let messages: [MessageRecord]
    let next: Int
  }

  private struct Totals: Encodable {
    let total: Int
    let exchanges: Int
  }

  private func addMessages(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/messages") { request, _ in try ControlAnswer.json(Self.page(request, of: service)) }
    routes.add(.delete, "/messages") { _, _ in
      service.forgetMessages()
      return ControlAnswer.done
    }
    routes.add(.get, "/messages/wait") { request, reactor in
      guard let count = try request.queryNumber("count") else {
        throw ProblemDetails.unfit("count is how many messages to wait for")
      }
      let limit = min(try request.queryNumber("timeout_ms") ?? Self.waitDefault, Self.waitMax)
      guard await service.waitForMessages(count, within: .milliseconds(limit), on: reactor) else {
        throw ProblemDetails(.requestTimeout, detail: "\(service.messageCount) of \(count) messages came in time")
      }
      return try ControlAnswer.json(Totals(total: service.messageCount, exchanges: service.exchangeCount))
    }
  }

  private static func page(_ request: HTTPServerRequest, of service: SimulatedFCM) throws -> MessagePage {
    let after = try request.queryNumber("after") ?? 0
    let limit = min(try request.queryNumber("limit") ?? pageDefault, pageMax)
    let token = request.head.queryValue("token")
    let found = service.messages.lazy.filter { $0.number > after && (token == nil || $0.token == token) }
    let page = Array(found.prefix(limit))
    return MessagePage(messages: page, next: page.last?.number ?? after)
  }

  private func addFaults(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.post, "/faults") { request, _ in
      try service.add(FaultDocument.read(request.body))
      return ControlAnswer.done
    }
    routes.add(.get, "/faults") { _, _ in try ControlAnswer.json(["waiting": service.withBooks { $0.faults }]) }
    routes.add(.delete, "/faults") { _, _ in
      service.withBooks { $0.faults = [] }
      return ControlAnswer.done
    }
  }

  private func addSettings(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.post, "/clock") { request, _ in
      let document = try ClockDocument.read(request.body)
      try document.check()
      service.advance(milliseconds: document.advanceMilliseconds)
      return ControlAnswer.done
    }
    routes.add(.post, "/conduct") { request, _ in
      let document = try ConductDocument.read(request.body)
      try service.withBooks { try document.change(&$0.conduct) }
      return ControlAnswer.done
    }
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
  }
}

// Orders.
extension SimulatedFCM {
  func register(_ document: DeviceDocument, _ token: String) throws {
    try withBooks { books in
      let device = try document.device(books)
      guard books.registry.add(device, token) else { throw ProblemDetails.full("too many tokens") }
    }
  }

  func add(_ document: ProjectDocument, _ identifier: String) throws {
    let project = SimulatedProject(number: document.number, isEnabled: document.enabled ?? true)
    guard withBooks({ $0.registry.add(project, identifier) }) else { throw ProblemDetails.full("too many projects") }
  }

  func add(_ document: AccountDocument) throws {
    let account = try document.account()
    guard withBooks({ $0.registry.add(account) }) else { throw ProblemDetails.full("too many accounts") }
  }

  func add(_ document: BearerDocument) throws {
    try withBooks { books in
      let bearer = try document.bearer(books)
      guard books.registry.add(bearer, document.token) else { throw ProblemDetails.full("too many bearers") }
    }
  }

  func add(_ fault: FaultDocument) throws {
    try fault.check()
    try withBooks { books in
      guard books.faults.count < FaultDocument.entriesMax else { throw ProblemDetails.full("too many faults") }
      books.faults.append(fault)
    }
  }
}
