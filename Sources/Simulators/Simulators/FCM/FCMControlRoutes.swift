internal import Cryptography
internal import HTTP1
internal import HTTPTypes
internal import Reactors

struct FCMControlRoutes: Sendable {
  private static let (pageDefault, pageMax) = (1000, 10_000)

  let service: SimulatedFCM

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addDevices(to: &routes)
    addProjects(to: &routes)
    addMessages(to: &routes)
    let service = service
    routes.take("/faults") { (fault: FCMFaultDocument) in
      try fault.check()
      guard service.withBooks({ $0.faults.arrange(fault) }) else { throw ProblemDetails.full("too many faults") }
    }
    routes.show("/faults") { _ in ["waiting": service.withBooks { $0.faults }] }
    routes.forget("/faults") { service.withBooks { $0.faults = [] } }
    routes.take("/clock") { (clock: ClockDocument) in service.advance(milliseconds: try clock.checked()) }
    routes.take("/conduct") { (conduct: FCMConductDocument) in
      try service.withBooks { try conduct.change(&$0.conduct) }
    }
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
    return routes
  }

  private func addDevices(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.put, "/tokens/{token}") { request, _ in
      let token = request.parameter("token")
      guard MessageInquiry.isWellFormed(token) else { throw ProblemDetails.unfit("a token is NAME:APA91b...") }
      let document = try FCMDeviceDocument.read(request.body)
      try service.withBooks { books in
        let device = try document.device(books)
        guard books.registry.add(device, token) else { throw ProblemDetails.full("too many tokens") }
      }
      return ControlAnswer.done
    }
    routes.show("/tokens/{token}") { request in
      let device = service.withBooks { $0.registry.devices[request.parameter("token")] }
      guard let device else { throw ProblemDetails(.notFound) }
      return [
        "online": device.isOnline, "delivered": device.delivered, "waiting": device.waitingCount,
        "shown": device.shownCount, "deleted_messages": device.hasDeletedMessages,
      ] as JSONMembers
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
      let document = try ProjectDocument.read(request.body)
      let project = SimulatedProject(number: document.number, isEnabled: document.enabled ?? true)
      guard service.withBooks({ $0.registry.add(project, request.parameter("project")) }) else {
        throw ProblemDetails.full("too many projects")
      }
      return ControlAnswer.done
    }
    routes.add(.post, "/accounts") { request, _ in
      try service.add(decodeControl(AccountDocument.self, from: request.body))
      return ControlAnswer.done
    }
    routes.take("/bearers") { (document: BearerDocument) in
      try service.withBooks { books in
        let bearer = try document.bearer(books)
        guard books.registry.add(bearer, document.token) else { throw ProblemDetails.full("too many bearers") }
      }
    }
    routes.forget("/bearers") { service.withBooks { $0.registry.removeBearers() } }
  }

  private func addMessages(to routes: inout HTTPRoutes) {
    let service = service
    routes.show("/messages") { request in
      let after = try request.queryNumber("after") ?? 0
      let limit = min(try request.queryNumber("limit") ?? Self.pageDefault, Self.pageMax)
      let token = request.head.queryValue("token")
      let page = service.withBooks { books in
        books.log.records(after: after, limit: limit) { token == nil || $0.token == token }
      }
      return ["messages": page.records, "next": page.records.last?.number ?? after] as JSONMembers
    }
    routes.forget("/messages") { service.forgetMessages() }
    routes.await(
      "messages", total: { service.messageCount },
      totals: { ["total": service.messageCount, "exchanges": service.exchangeCount] }
    ) { await service.waitForMessages($0, within: $1, on: $2) }
  }
}

extension SimulatedFCM {
  func add(_ document: AccountDocument) throws {
    let account = try document.account()
    guard withBooks({ $0.registry.add(account) }) else { throw ProblemDetails.full("too many accounts") }
  }
}

struct FCMDeviceDocument: ControlDocument {
  /// The project whose messages its token takes; the first project when absent.
  var project: String?
  /// The app; any when absent.
  var package: String?
  /// `registered` when absent.
  var state: SimulatedDevice.State?
  /// Days since the app last connected; 0 when absent.
  var inactiveDays: Int?
  /// True when absent.
  var online: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case project, package, state, online
    case inactiveDays = "inactive_days"
  }

  func device(_ books: FCMBooks) throws(ProblemDetails) -> SimulatedDevice {
    try ControlLimits.check("inactive_days", inactiveDays, to: 36_500)
    let lastActiveAt = books.now - Int64(inactiveDays ?? 0) * 86_400_000
    var device = SimulatedDevice(project: project ?? books.registry.firstProject, lastActiveAt: lastActiveAt)
    device.package = package
    device.state = state ?? .registered
    if online == false { device.setOnline(false, now: books.now) }
    return device
  }
}

/// A change of a device's connection.
struct ConnectionDocument: ControlDocument {
  var online: Bool

  enum CodingKeys: String, CodingKey, CaseIterable {
    case online
  }
}

struct ProjectDocument: ControlDocument {
  var number: Int64?
  /// True when absent.
  var enabled: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case number
    case enabled = "api_enabled"
  }
}

/// A service account: Google's file, whose other members are ignored.
struct AccountDocument: Decodable {
  let email: String
  let project: String
  let keyIdentifier: String
  let privateKey: String
  /// Whether the account may send; true when absent.
  let role: Bool?

  enum CodingKeys: String, CodingKey {
    case role
    case email = "client_email"
    case project = "project_id"
    case keyIdentifier = "private_key_id"
    case privateKey = "private_key"
  }

  func account() throws(ProblemDetails) -> SimulatedAccount {
    guard let key = try? RSAPrivateKey(pem: privateKey) else {
      throw ProblemDetails.unfit("private_key is not an RSA key")
    }
    return SimulatedAccount(
      email: email, project: project, keyIdentifier: keyIdentifier, key: key.publicKey, hasRole: role ?? true)
  }
}

/// An access token without an exchange.
struct BearerDocument: ControlDocument {
  var token: String
  /// The first project when absent.
  var project: String?
  /// 3599 when absent. Negative for a token that has ended.
  var expiresIn: Int?
  /// Whether its account may send, and whether its scope allows it; true when absent.
  var role: Bool?
  var scope: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token, project, role, scope
    case expiresIn = "expires_in"
  }

  func bearer(_ books: FCMBooks) throws(ProblemDetails) -> SimulatedBearer {
    try ControlLimits.check(
      "expires_in", expiresIn, from: -ControlLimits.secondsMax, to: ControlLimits.secondsMax)
    return SimulatedBearer(
      project: project ?? books.registry.firstProject, hasRole: role ?? true, hasScope: scope ?? true,
      endsAt: books.now + Int64(expiresIn ?? FCMBooks.expiresIn) * 1000)
  }
}

/// A change of the conduct; what is absent stays.
struct FCMConductDocument: ControlDocument, Encodable {
  var delayMilliseconds: Int?
  var reversesDetails: Bool?
  var acceptsAnyToken: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case delayMilliseconds = "delay_ms"
    case reversesDetails = "reverse_details"
    case acceptsAnyToken = "accept_any_token"
  }

  func change(_ conduct: inout Conduct) throws(ProblemDetails) {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    if let delayMilliseconds { conduct.delayMilliseconds = delayMilliseconds }
    if let reversesDetails { conduct.reversesDetails = reversesDetails }
    if let acceptsAnyToken { conduct.acceptsAnyToken = acceptsAnyToken }
  }
}

/// A misbehaviour on request, in JSON.
struct FCMFaultDocument: ControlDocument, Encodable {
  enum Kind: String, Codable {
    /// A good request gets this answer. A refused one keeps its own.
    case answer
    /// A good message gets 429 of the project.
    case quota
    case delay
    /// The connection ends before the judgement.
    case dropBefore = "drop_before"
    /// The connection ends after the judgement: the message is delivered.
    case dropAfter = "drop_after"
    /// The request is read and never answered.
    case silence
  }

  enum Endpoint: String, Codable {
    case send, token
  }

  var kind: Kind
  /// `send` when absent.
  var endpoint: Endpoint?
  /// Requests of the endpoint that pass first; 0 when absent.
  var skip: Int?
  /// Requests that it hits; 1 when absent.
  var times: Int?
  /// Of `answer`: the HTTP status, and then either a content as it is, or the words of Google's envelope.
  var status: Int?
  var errorStatus: String?
  var errorCode: String?
  var message: String?
  var rawBody: String?
  /// Of `answer` and `quota`: the field `Retry-After`.
  var retryAfter: String?
  /// Of `quota`: false leaves the detail with `QUOTA_EXCEEDED` out.
  var hasCode: Bool?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, endpoint, skip, times, status, message
    case errorStatus = "error_status"
    case errorCode = "error_code"
    case rawBody = "raw_body"
    case retryAfter = "retry_after"
    case hasCode = "has_code"
    case delayMilliseconds = "delay_ms"
  }

  func concerns(_ endpoint: Endpoint) -> Bool { (self.endpoint ?? .send) == endpoint }

  /// - Throws: `ProblemDetails` that names a missing or meaningless member.
  func check() throws(ProblemDetails) {
    try ControlLimits.check("skip", skip, to: ControlLimits.countMax)
    try ControlLimits.check("times", times, from: 1, to: ControlLimits.countMax)
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("status", status, from: 200, to: 599)
    try ControlLimits.refuseStrays(
      kind,
      [
        ("status", status != nil, [.answer]), ("error_status", errorStatus != nil, [.answer]),
        ("error_code", errorCode != nil, [.answer]), ("message", message != nil, [.answer]),
        ("raw_body", rawBody != nil, [.answer]), ("retry_after", retryAfter != nil, [.answer, .quota]),
        ("has_code", hasCode != nil, [.quota]), ("delay_ms", delayMilliseconds != nil, [.delay]),
      ])
    if kind == .answer, status == nil { throw ProblemDetails.unfit("status is missing") }
    if kind == .delay, delayMilliseconds == nil { throw ProblemDetails.unfit("delay_ms is missing") }
    if kind == .quota, endpoint == .token { throw ProblemDetails.unfit("quota is for send") }
    if let retryAfter, !HTTPField.isValidValue(retryAfter) {
      throw ProblemDetails.unfit("retry_after is no field value")
    }
  }

  /// The refusal that a good message gets; nil for a fault without one, and for a content as it is.
  var refusal: GoogleError? {
    switch kind {
    case .quota: .projectQuota(hasCode: hasCode ?? true, retryAfter: retryAfter)
    case .answer where rawBody == nil:
      GoogleError(
        http: status ?? 500, status: errorStatus ?? "UNKNOWN", message: message ?? "The test says so.",
        details: errorCode.map { [.fcm($0)] } ?? [], retryAfter: retryAfter)
    default: nil
    }
  }

  var rawResponse: HTTPServerResponse? {
    guard kind == .answer, let rawBody else { return nil }
    var fields: HTTPFields = [.contentType: "text/html; charset=UTF-8"]
    if let retryAfter { fields[.retryAfter] = retryAfter }
    return HTTPServerResponse(
      status: HTTPResponse.Status(code: status ?? 200), fields: fields, body: Array(rawBody.utf8))
  }
}

extension FCMFaultDocument: CountedFault {
  var skipsLeft: Int {
    get { skip ?? 0 }
    set { skip = newValue }
  }

  var timesLeft: Int {
    get { times ?? 1 }
    set { times = newValue }
  }
}
