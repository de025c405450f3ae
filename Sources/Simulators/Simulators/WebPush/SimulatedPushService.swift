package import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import Synchronization

/// Subscriptions, faults and records of the stand-in. Usable from any thread; each call is one short critical section.
package final class SimulatedPushService: Sendable {
  /// The most subscriptions: some megabytes.
  private static let subscriptionsMax = 10_000

  let held = HeldRequests()
  private let books: Mutex<Books>

  private struct Books: Sendable {
    var subscriptions: [String: SimulatedSubscription] = [:]
    var faults: [PushFault] = []
    var log: RecordLog<WebPushRecord>
    var outcomes = OutcomeCounts()
    var waiters = ArrivalWaiters()
    /// Added to the wall clock, in milliseconds.
    var clockOffset: Int64 = 0
    var origin = ""
    var lastMessage = 0
  }

  init(recordsMax: Int) {
    books = Mutex(Books(log: RecordLog(capacity: recordsMax)))
  }

  /// `https://127.0.0.1:8443`: scheme, host and port of all endpoints. Empty before the start.
  package internal(set) var origin: String {
    get { books.withLock { $0.origin } }
    set { books.withLock { $0.origin = newValue } }
  }

  /// Adds a subscription, or replaces the one with this identifier.
  /// - Returns: false when there are too many.
  @discardableResult
  package func add(_ subscription: SimulatedSubscription) -> Bool {
    books.withLock { books in
      let isKnown = books.subscriptions[subscription.identifier] != nil
      guard isKnown || books.subscriptions.count < Self.subscriptionsMax else { return false }
      books.subscriptions[subscription.identifier] = subscription
      return true
    }
  }

  /// The URL that a browser would report.
  package func endpoint(of subscription: SimulatedSubscription) -> String {
    "\(origin)/push/\(subscription.identifier)"
  }

  /// All subscriptions, by identifier.
  package var subscriptions: [SimulatedSubscription] {
    books.withLock { $0.subscriptions.values.sorted { $0.identifier < $1.identifier } }
  }

  /// Changes what the service knows about a subscription.
  /// - Returns: false when there is none with this identifier.
  @discardableResult
  package func setState(of identifier: String, to state: SimulatedSubscription.State) -> Bool {
    books.withLock { $0.subscriptions[identifier]?.state = state } != nil
  }

  /// Appends a fault.
  /// - Returns: false when too many are waiting.
  @discardableResult
  package func arrange(_ fault: PushFault) -> Bool {
    books.withLock { $0.faults.arrange(fault) }
  }

  /// The waiting faults with their remaining counts.
  package var faults: [PushFault] { books.withLock { $0.faults } }

  package func removeFaults() {
    books.withLock { $0.faults.removeAll() }
  }

  /// Moves the clock that tokens are judged by.
  package func advanceClock(milliseconds: Int64) {
    books.withLock { $0.clockOffset += milliseconds }
  }

  /// The newest records, oldest first.
  package var pushes: [WebPushRecord] { pushes(after: 0) }

  /// Requests since the start or ``forgetPushes()``, and how many had each outcome, such as `400 BadTtl`.
  package var totals: (total: Int, outcomes: [String: Int]) {
    books.withLock { ($0.log.total, $0.outcomes.counts) }
  }

  /// Forgets records and counters. Numbers continue.
  package func forgetPushes() {
    books.withLock { books in
      books.log.removeAll()
      books.outcomes = OutcomeCounts()
    }
  }

  func pushes(after number: Int, of subscription: String? = nil, limit: Int = .max) -> [WebPushRecord] {
    books.withLock { books in
      books.log.records(after: number, limit: limit) { subscription == nil || $0.subscription == subscription }.records
    }
  }

  /// - Returns: false when the limit passed first.
  func waitForPushes(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { $0.waiters.add(bound, until: count, total: $0.log.total) }
    return await signal.wait(for: limit, on: reactor)
  }
}

// A request is judged, hit by a fault, recorded and answered.
extension SimulatedPushService {
  func nextFault(for identifier: String) -> PushFault? {
    books.withLock { books in
      books.faults.next { $0.subscription == nil || $0.subscription == identifier }
    }
  }

  /// Judges a request and records it.
  /// - Parameter fault: changes the answer to a good push; one that closes the connection is recorded with status 0.
  func receive(_ inquiry: WebPushInquiry, for identifier: String, _ fault: PushFault?) -> PushResponse {
    let wall = Int64(Date().timeIntervalSince1970 * 1000)
    let (found, origin, now, message) = books.withLock { books in
      books.lastMessage += 1
      return (books.subscriptions[identifier], books.origin, wall + books.clockOffset, "m\(books.lastMessage)")
    }
    let subscription = found ?? SimulatedSubscription(identifier: identifier, state: .expired)
    var record = WebPushRecord(
      arrivedMilliseconds: wall, subscription: identifier, status: 0, bodyBytes: inquiry.body.count)
    var response: PushResponse
    do throws(PushRefusal) {
      let push = try inquiry.judge(for: subscription, origin: origin, now: Double(now) / 1000)
      record.describe(push, inquiry.body, for: subscription)
      response = subscription.face.acceptance(message, origin: origin, timeToLive: push.timeToLive)
      if let fault, fault.kind == .answer { response = fault.response }
    } catch {
      response = subscription.face.answer(error, identifier: message)
    }
    record.status = fault?.kind == .dropAfter || fault?.kind == .blackHole ? 0 : response.status
    record.reason = response.reason
    books.withLock { [record] books in
      books.log.append(record)
      books.outcomes.count(record.status, record.reason)
      books.waiters.tell(books.log.total)
    }
    return response
  }
}

extension WebPushRecord {
  /// Adds what an accepted request says.
  fileprivate mutating func describe(
    _ push: JudgedWebPush, _ body: [UInt8], for subscription: SimulatedSubscription
  ) {
    (timeToLive, urgency, topic) = (push.timeToLive, push.urgency, push.topic)
    serverKey = push.statement?.keyText
    audience = push.statement?.claims.aud
    subject = push.statement?.claims.sub
    expiration = push.statement?.claims.exp
    guard !body.isEmpty else { return }
    do throws(ContentFault) {
      let opened = try subscription.decrypt(body)
      content = String(decoding: opened.content, as: UTF8.self)
      paddingBytes = opened.paddingBytes
    } catch {
      contentFault = error.rawValue
    }
  }
}

/// A request and its answer, in the form of the control endpoint.
package struct WebPushRecord: Codable, Equatable, NumberedRecord {
  /// The request's number since the start, from 1, without gaps.
  package var number = 0
  /// When it came, in milliseconds since 1970.
  package var arrivedMilliseconds: Int64
  /// The subscription's identifier, as in the path.
  package var subscription: String
  /// The status of the answer; 0 when the connection was closed instead.
  package var status: Int
  /// The service's word for a refusal; nil without one.
  package var reason: String?
  /// The decrypted content. Invalid UTF-8 is replaced. Nil for a push without content, and for one that cannot be decrypted.
  package var content: String?
  /// Why the browser cannot decrypt it, and so drops it silently; nil when it can.
  package var contentFault: String?
  package var bodyBytes: Int
  /// Padding inside the encryption, in bytes.
  package var paddingBytes: Int?
  /// `TTL` as accepted, in seconds. This and the next fields are nil in a refused request.
  package var timeToLive: Int64?
  /// `Urgency`, `normal` when absent.
  package var urgency: String?
  package var topic: String?
  /// `k` of VAPID.
  package var serverKey: String?
  /// `aud` of VAPID.
  package var audience: String?
  /// `sub` of VAPID.
  package var subject: String?
  /// `exp` of VAPID, Unix seconds.
  package var expiration: Double?

  private enum CodingKeys: String, CodingKey {
    case number, subscription, status, reason, content, urgency, topic
    case arrivedMilliseconds = "arrived_ms"
    case contentFault = "content_fault"
    case bodyBytes = "body_bytes"
    case paddingBytes = "padding_bytes"
    case timeToLive = "ttl"
    case serverKey = "vapid_key"
    case audience = "aud"
    case subject = "sub"
    case expiration = "exp"
  }
}

/// A browser's subscription, with the browser's secrets.
package struct SimulatedSubscription: Sendable {
  /// What the service knows about it.
  package enum State: String, Codable, CaseIterable, Sendable {
    case active
    /// 404: the service has forgotten it.
    case expired
    /// 410: the user unsubscribed.
    case gone
  }

  /// The last segment of the endpoint's path.
  package let identifier: String
  /// Decrypts pushes.
  package let key: P256PrivateKey
  /// 16 bytes.
  package let secret: [UInt8]
  /// The only application server key that may push, as base64url; nil allows any, and pushes without VAPID.
  package let serverKey: String?
  package let face: PushServiceFace
  package internal(set) var state: State

  /// A subscription with new keys.
  package init(
    identifier: String, serverKey: String? = nil, face: PushServiceFace = .mozilla, state: State = .active,
    key: P256PrivateKey = P256PrivateKey(), secret: [UInt8]? = nil
  ) {
    self.identifier = identifier
    self.key = key
    self.secret = secret ?? (0..<16).map { _ in .random(in: 0...255) }
    self.serverKey = serverKey
    self.face = face
    self.state = state
  }

  /// The public key as the browser reports it: base64url of 65 bytes.
  package var p256dh: String { Base64URL.encode(key.publicKey.x963) }

  /// The secret as the browser reports it: base64url of 16 bytes.
  package var auth: String { Base64URL.encode(secret) }

  /// Decrypts a push as the browser does (RFC 8291).
  /// - Returns: the content without padding, and how many bytes of padding it had.
  package func decrypt(_ body: [UInt8]) throws(ContentFault) -> (content: [UInt8], paddingBytes: Int) {
    let encrypted = try EncryptedContent(body)
    guard encrypted.records.count == 1 else { throw .tooManyRecords }
    guard let sender = try? P256PublicKey(x963: encrypted.keyIdentifier),
      let shared = try? key.sharedSecret(with: sender)
    else { throw .keyMalformed }
    let info = Array("WebPush: info\0".utf8) + key.publicKey.x963 + sender.x963
    return try encrypted.open(with: HKDFSHA256.derive(from: shared, salt: secret, info: info, byteCount: 32))
  }
}

/// The push service as senders see it.
struct PushRoutes: Sendable {
  /// Larger than any service accepts, so that the judge refuses large bodies and not the server.
  private static let bodyBytesMax = 64 * 1024

  let service: SimulatedPushService

  func table() -> HTTPRoutes {
    let service = service
    var routes = HTTPRoutes()
    routes.add(.post, "/push/{subscription}", bodyBytesMax: Self.bodyBytesMax) { request, reactor in
      try await Self.answer(request, service, on: reactor)
    }
    return routes
  }

  private static func answer(
    _ request: HTTPServerRequest, _ service: SimulatedPushService, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let identifier = request.parameter("subscription")
    let fault = service.nextFault(for: identifier)
    if fault?.kind == .dropBefore { throw HTTPHangUp() }
    let response = service.receive(WebPushInquiry(request.head, body: request.body), for: identifier, fault)
    switch fault?.kind {
    case .dropAfter: throw HTTPHangUp()
    case .blackHole:
      _ = await service.held.wait(for: nil, on: reactor)
      throw HTTPHangUp()
    case .delay:
      let delay = Duration.milliseconds(fault?.delayMilliseconds ?? 0)
      guard await service.held.wait(for: delay, on: reactor) else { throw HTTPHangUp() }
    case .answer, .dropBefore, nil: break
    }
    return HTTPServerResponse(response)
  }
}

extension HTTPServerResponse {
  fileprivate init(_ response: PushResponse) {
    var fields = HTTPFields()
    for (name, value) in response.fields.sorted(by: { $0.key < $1.key }) {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    self.init(
      status: HTTPResponse.Status(code: response.status), fields: fields, body: Array(response.body.utf8))
  }
}
