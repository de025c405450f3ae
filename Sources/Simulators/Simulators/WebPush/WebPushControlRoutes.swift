internal import Cryptography
internal import HTTP1
internal import HTTPTypes
internal import Reactors

struct WebPushControlRoutes: Sendable {
  let service: SimulatedPushService
  /// The service of subscriptions that name none.
  let face: PushServiceFace

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addSubscriptions(to: &routes)
    addPushes(to: &routes)
    addFaults(to: &routes)
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
    return routes
  }
}

extension WebPushControlRoutes {
  private struct SubscriptionList: Encodable {
    let subscriptions: [SubscriptionAnswer]
  }

  private func addSubscriptions(to routes: inout HTTPRoutes) {
    let (service, face) = (service, face)
    routes.add(.post, "/subscriptions") { request, _ in
      let subscription = try SubscriptionDocument.read(request.body).subscription(face)
      guard service.add(subscription) else { throw ProblemDetails.full("too many subscriptions") }
      return try ControlAnswer.json(SubscriptionAnswer(subscription, service))
    }
    routes.add(.get, "/subscriptions") { _, _ in
      let all = service.subscriptions.map { SubscriptionAnswer($0, service) }
      return try ControlAnswer.json(SubscriptionList(subscriptions: all))
    }
    routes.add(.put, "/subscriptions/{id}/state") { request, _ in
      let state = try StateDocument.read(request.body).state
      guard service.setState(of: request.parameter("id"), to: state) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
    routes.add(.post, "/clock") { request, _ in
      service.advanceClock(milliseconds: try WebPushClockDocument.read(request.body).checked())
      return ControlAnswer.done
    }
  }
}

extension WebPushControlRoutes {
  /// The default limit of a wait, in milliseconds: longer than any push should take.
  private static let waitDefaultMilliseconds = 10_000
  private static let waitMaxMilliseconds = 600_000
  /// The records of one answer: some megabytes.
  private static let recordsMax = 1000

  private struct PushPage: Encodable {
    let pushes: [WebPushRecord]
  }

  private struct Totals: Encodable {
    let total: Int
    let outcomes: [String: Int]
  }

  private func addPushes(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/pushes") { request, _ in
      let (after, limit) = (try request.queryNumber("after") ?? 0, try request.queryNumber("limit") ?? Self.recordsMax)
      let pushes = service.pushes(
        after: after, of: request.head.queryValue("subscription"), limit: min(limit, Self.recordsMax))
      return try ControlAnswer.json(PushPage(pushes: pushes))
    }
    routes.add(.delete, "/pushes") { _, _ in
      service.forgetPushes()
      return ControlAnswer.done
    }
    routes.add(.get, "/pushes/wait") { request, reactor in try await Self.wait(request, for: service, on: reactor) }
  }

  private static func wait(
    _ request: HTTPServerRequest, for service: SimulatedPushService, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    guard let count = try request.queryNumber("count") else {
      throw ProblemDetails.unfit("count is how many pushes to wait for")
    }
    let milliseconds = min(try request.queryNumber("timeout_ms") ?? waitDefaultMilliseconds, waitMaxMilliseconds)
    guard await service.waitForPushes(count, within: .milliseconds(milliseconds), on: reactor) else {
      throw ProblemDetails(.requestTimeout, detail: "\(service.totals.total) of \(count) pushes came in time")
    }
    let (total, outcomes) = service.totals
    return try ControlAnswer.json(Totals(total: total, outcomes: outcomes))
  }
}

extension WebPushControlRoutes {
  private struct Faults: Encodable {
    let waiting: [WebPushFaultDocument]
  }

  private func addFaults(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.post, "/faults") { request, _ in
      guard service.arrange(try WebPushFaultDocument.read(request.body).fault()) else {
        throw ProblemDetails.full("too many faults are waiting")
      }
      return ControlAnswer.done
    }
    routes.add(.get, "/faults") { _, _ in
      try ControlAnswer.json(Faults(waiting: service.faults.map { WebPushFaultDocument($0) }))
    }
    routes.add(.delete, "/faults") { _, _ in
      service.removeFaults()
      return ControlAnswer.done
    }
  }
}

struct SubscriptionDocument: ControlDocument {
  /// A random one when absent.
  var identifier: String?
  /// Any key may push when absent.
  var serverKey: String?
  var face: PushServiceFace?
  /// `active` when absent.
  var state: SimulatedSubscription.State?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case face, state
    case identifier = "id"
    case serverKey = "vapid_key"
  }

  /// - Throws: `ProblemDetails` for a key or an identifier that cannot be.
  func subscription(_ usual: PushServiceFace) throws(ProblemDetails) -> SimulatedSubscription {
    if let serverKey {
      guard let point = Base64URL.decode(serverKey.utf8), (try? P256PublicKey(x963: point)) != nil else {
        throw ProblemDetails.unfit("vapid_key is base64url of a point on P-256, without padding")
      }
    }
    let identifier = identifier ?? SHA256.hash((0..<16).map { _ in .random(in: 0...255) }).hexadecimal(bytes: 16)
    guard (1...200).contains(identifier.utf8.count), identifier.utf8.allSatisfy(Self.isPlain) else {
      throw ProblemDetails.unfit("id has letters, digits, - and _, at most 200")
    }
    return SimulatedSubscription(
      identifier: identifier, serverKey: serverKey, face: face ?? usual, state: state ?? .active)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

/// A subscription in the form of the browser's `PushSubscription.toJSON()`, with what only the stand-in knows.
struct SubscriptionAnswer: Encodable {
  struct Keys: Encodable {
    let p256dh: String
    let auth: String
  }

  let id: String
  let endpoint: String
  let keys: Keys
  let face: PushServiceFace
  let state: SimulatedSubscription.State
  let vapidKey: String?

  enum CodingKeys: String, CodingKey {
    case id, endpoint, keys, face, state
    case vapidKey = "vapid_key"
  }

  init(_ subscription: SimulatedSubscription, _ service: SimulatedPushService) {
    id = subscription.identifier
    endpoint = service.endpoint(of: subscription)
    keys = Keys(p256dh: subscription.p256dh, auth: subscription.auth)
    face = subscription.face
    state = subscription.state
    vapidKey = subscription.serverKey
  }
}

struct StateDocument: ControlDocument {
  let state: SimulatedSubscription.State

  enum CodingKeys: String, CodingKey, CaseIterable {
    case state
  }
}

struct WebPushClockDocument: ControlDocument {
  let advanceMilliseconds: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case advanceMilliseconds = "advance_ms"
  }

  /// - Throws: `ProblemDetails` for more than a century.
  func checked() throws(ProblemDetails) -> Int64 {
    let limit = ControlLimits.clockMillisecondsMax
    guard (-limit...limit).contains(advanceMilliseconds) else {
      throw ProblemDetails.unfit("advance_ms is at most a century")
    }
    return advanceMilliseconds
  }
}

/// What goes wrong with some of the next requests.
package struct PushFault: Equatable, Sendable {
  package enum Kind: String, Codable, CaseIterable, Sendable {
    /// A good push gets this answer instead of 201: a refusal, a redirect, `Retry-After`.
    case answer
    case delay
    /// The connection is closed, and the push not looked at.
    case dropBefore = "drop_before"
    /// The push is accepted, and the connection is closed instead of the answer.
    case dropAfter = "drop_after"
    /// No answer until the client closes the connection or the simulator stops.
    case blackHole = "black_hole"
  }

  package var kind: Kind
  /// Only requests for this subscription; nil for all.
  package var subscription: String?
  /// Requests that pass first.
  package var skip: Int
  /// Requests that it hits then.
  package var times: Int
  /// The status of an `answer`.
  package var status: Int
  /// The header fields of an `answer`, such as `retry-after` and `location`.
  package var fields: [String: String]
  /// The content of an `answer`.
  package var body: String
  package var delayMilliseconds: Int

  /// Describes a fault; the defaults hit the next request.
  package init(
    _ kind: Kind, subscription: String? = nil, skip: Int = 0, times: Int = 1, status: Int = 503,
    fields: [String: String] = [:], body: String = "", delayMilliseconds: Int = 0
  ) {
    self.kind = kind
    self.subscription = subscription
    self.skip = skip
    self.times = times
    self.status = status
    self.fields = fields
    self.body = body
    self.delayMilliseconds = delayMilliseconds
  }

  var response: PushResponse { PushResponse(status: status, reason: "scripted", fields: fields, body: body) }
}

/// Faults that wait for requests, in order.
struct PushFaultScript: Sendable {
  private static let entriesMax = 10_000

  private(set) var entries: [PushFault] = []

  /// - Returns: false when the script is full.
  mutating func append(_ fault: PushFault) -> Bool {
    guard entries.count < Self.entriesMax else { return false }
    if fault.times > 0 { entries.append(fault) }
    return true
  }

  mutating func removeAll() {
    entries = []
  }

  /// The fault of the next request; nil when it passes.
  mutating func next(for subscription: String) -> PushFault? {
    let place = entries.firstIndex { $0.subscription == nil || $0.subscription == subscription }
    guard let place else { return nil }
    if entries[place].skip > 0 {
      entries[place].skip -= 1
      return nil
    }
    let fault = entries[place]
    entries[place].times -= 1
    if entries[place].times == 0 { entries.remove(at: place) }
    return fault
  }
}

/// An order of a fault, also a waiting one in responses.
struct WebPushFaultDocument: ControlDocument, Encodable {
  var kind: PushFault.Kind
  var subscription: String?
  /// 0 when absent.
  var skip: Int?
  /// 1 when absent.
  var times: Int?
  var status: Int?
  var fields: [String: String]?
  var body: String?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, subscription, skip, times, status, fields, body
    case delayMilliseconds = "delay_ms"
  }

  init(_ fault: PushFault) {
    (kind, subscription, skip, times) = (fault.kind, fault.subscription, fault.skip, fault.times)
    if kind == .answer { (status, fields, body) = (fault.status, fault.fields, fault.body) }
    if kind == .delay { delayMilliseconds = fault.delayMilliseconds }
  }

  /// - Throws: `ProblemDetails` that names a missing, impossible or meaningless member.
  func fault() throws(ProblemDetails) -> PushFault {
    for (name, number) in [("skip", skip), ("times", times)] {
      try ControlLimits.check(name, number, to: ControlLimits.countMax)
    }
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("status", status, from: 200, to: 599)
    guard (kind == .answer) == (status != nil), kind == .answer || (fields == nil && body == nil) else {
      throw ProblemDetails.unfit("answer has status and, if wanted, fields and body; other kinds have none of them")
    }
    guard (kind == .delay) == (delayMilliseconds != nil) else {
      throw ProblemDetails.unfit("delay has delay_ms; other kinds have not")
    }
    return PushFault(
      kind, subscription: subscription, skip: skip ?? 0, times: times ?? 1, status: status ?? 503,
      fields: fields ?? [:], body: body ?? "", delayMilliseconds: delayMilliseconds ?? 0)
  }
}
