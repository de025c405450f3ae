internal import Cryptography
internal import HTTP1
internal import HTTPTypes
internal import Reactors

struct WebPushControlRoutes: Sendable {
  let service: SimulatedPushService
  /// The service of subscriptions that name none.
  let face: PushServiceFace

  /// The records of one answer: some megabytes.
  private static let recordsMax = 1000

  func table() -> HTTPRoutes {
    let (service, face) = (service, face)
    // The form of the browser's `PushSubscription.toJSON()`, with what only the stand-in knows.
    let shown: @Sendable (SimulatedSubscription) -> JSONMembers = { subscription in
      [
        "id": subscription.identifier, "endpoint": service.endpoint(of: subscription),
        "keys": ["p256dh": subscription.p256dh, "auth": subscription.auth], "face": subscription.face,
        "state": subscription.state, "vapid_key": subscription.serverKey,
      ]
    }
    var routes = HTTPRoutes()
    routes.add(.post, "/subscriptions") { request, _ in
      let subscription = try SubscriptionDocument.read(request.body).subscription(face)
      guard service.add(subscription) else { throw ProblemDetails.full("too many subscriptions") }
      return try ControlAnswer.json(shown(subscription))
    }
    routes.show("/subscriptions") { _ in
      ["subscriptions": service.subscriptions.map(shown)]
    }
    routes.add(.put, "/subscriptions/{id}/state") { request, _ in
      let state = try StateDocument.read(request.body).state
      guard service.setState(of: request.parameter("id"), to: state) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
    routes.take("/clock") { (clock: ClockDocument) in service.advanceClock(milliseconds: try clock.checked()) }
    routes.show("/pushes") { request in
      let (after, limit) = (try request.queryNumber("after") ?? 0, try request.queryNumber("limit") ?? Self.recordsMax)
      return [
        "pushes": service.pushes(
          after: after, of: request.head.queryValue("subscription"), limit: min(limit, Self.recordsMax))
      ]
    }
    routes.forget("/pushes") { service.forgetPushes() }
    routes.await(
      "pushes", total: { service.totals.total },
      totals: { ["total": service.totals.total, "outcomes": service.totals.outcomes] as JSONMembers }
    ) { await service.waitForPushes($0, within: $1, on: $2) }
    routes.take("/faults") { (fault: PushFault) in
      guard service.arrange(try fault.checked()) else { throw ProblemDetails.full("too many faults are waiting") }
    }
    routes.show("/faults") { _ in ["waiting": service.faults] }
    routes.forget("/faults") { service.removeFaults() }
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
    return routes
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
    guard (1...200).contains(identifier.utf8.count), identifier.utf8.allSatisfy(Base64URL.isDigit) else {
      throw ProblemDetails.unfit("id has letters, digits, - and _, at most 200")
    }
    return SimulatedSubscription(
      identifier: identifier, serverKey: serverKey, face: face ?? usual, state: state ?? .active)
  }

}

struct StateDocument: ControlDocument {
  let state: SimulatedSubscription.State

  enum CodingKeys: String, CodingKey, CaseIterable {
    case state
  }
}

/// What goes wrong with some of the next requests, in the form of the control endpoint.
package struct PushFault: ControlDocument, Encodable, Equatable {
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
  /// Requests that pass first; 0 when absent.
  package var skip: Int?
  /// Requests that it hits then; 1 when absent.
  package var times: Int?
  /// Of an `answer`: the status, header fields such as `retry-after` and `location`, and the content.
  package var status: Int?
  package var fields: [String: String]?
  package var body: String?
  /// Of a `delay`.
  package var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, subscription, skip, times, status, fields, body
    case delayMilliseconds = "delay_ms"
  }

  /// Describes a fault; the defaults hit the next request.
  package init(
    _ kind: Kind, subscription: String? = nil, skip: Int = 0, times: Int = 1, status: Int? = nil,
    fields: [String: String]? = nil, body: String? = nil, delayMilliseconds: Int? = nil
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

  /// - Throws: `ProblemDetails` that names a missing, impossible or meaningless member.
  func checked() throws(ProblemDetails) -> PushFault {
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
    var fault = self
    (fault.skip, fault.times) = (skipsLeft, timesLeft)
    if kind == .answer { (fault.fields, fault.body) = (fields ?? [:], body ?? "") }
    return fault
  }

  var response: PushResponse {
    PushResponse(status: status ?? 503, reason: "scripted", fields: fields ?? [:], body: body ?? "")
  }
}

extension PushFault: CountedFault {
  package var skipsLeft: Int {
    get { skip ?? 0 }
    set { skip = newValue }
  }

  package var timesLeft: Int {
    get { times ?? 1 }
    set { times = newValue }
  }
}
