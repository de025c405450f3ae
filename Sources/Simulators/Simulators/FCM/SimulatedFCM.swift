internal import Cryptography
internal import Glibc
internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import Synchronization

/// The state of a simulated FCM: registry, records, faults and clock. Usable from any thread; each call is one short
/// critical section.
package final class SimulatedFCM: Sendable {
  /// Requests that wait for the time of their answer, or until the simulator stops.
  let held = HeldRequests()

  private let books: Mutex<FCMBooks>

  init(recordsMax: Int) {
    books = Mutex(FCMBooks(recordsMax: recordsMax))
  }

  /// The newest requests to send, oldest first.
  package var messages: [MessageRecord] { books.withLock { $0.log.all } }

  /// Requests to send since the start or the last ``forgetMessages()``.
  package var messageCount: Int { books.withLock { $0.log.total } }

  /// Assertions that were exchanged for an access token.
  package var exchangeCount: Int { books.withLock { $0.exchangeCount } }

  /// Forgets records and counters. Numbers and what devices have received stay.
  package func forgetMessages() {
    books.withLock { $0.forget() }
  }

  /// Moves the simulated clock. Negative values move it back.
  package func advance(milliseconds: Int64) {
    books.withLock { $0.clockOffset += milliseconds }
  }

  func withBooks<Result>(_ body: (inout FCMBooks) throws -> sending Result) rethrows -> sending Result {
    try books.withLock { try body(&$0) }
  }

  /// Waits until so many requests to send have come.
  /// - Returns: false when the limit passed first.
  func waitForMessages(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { $0.waiters.add(bound, until: count, total: $0.log.total) }
    return await signal.wait(for: limit, on: reactor)
  }
}

/// The state, guarded by one lock.
struct FCMBooks {
  var registry = SimulatedRegistry()
  var faults: [FCMFaultDocument] = []
  var conduct = Conduct()
  var audiences: Set<String> = []
  /// Milliseconds that the simulated clock is ahead.
  var clockOffset: Int64 = 0
  private(set) var log: RecordLog<MessageRecord>
  private(set) var exchangeCount = 0
  var waiters = ArrivalWaiters()

  init(recordsMax: Int) {
    log = RecordLog(capacity: recordsMax)
  }

  /// Simulated milliseconds since 1970.
  var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000 + clockOffset
  }

  mutating func append(_ record: MessageRecord) {
    log.append(record)
    waiters.tell(log.total)
  }

  mutating func forget() {
    log.removeAll()
    exchangeCount = 0
  }
}

/// How the service treats all requests.
struct Conduct: Equatable {
  var delayMilliseconds = 0
  /// Whether the details of refusals come in the opposite order.
  var reversesDetails = false
  var acceptsAnyToken = false
}

// The token endpoint.
extension FCMBooks {
  /// Google's lifetime of an access token.
  static let expiresIn = 3599

  /// Judges a request for an access token.
  /// - Parameter fault: its answer replaces a success, and then there is no token.
  mutating func exchange(_ form: [String: String], fault: FCMFaultDocument?) throws -> HTTPServerResponse {
    let judge = AssertionJudge(accounts: registry.accounts, audiences: audiences, now: now / 1000)
    let answer = judge.judge(form)
    guard case .token(let email, _) = answer, let account = registry.accounts[email] else {
      return try answer.response()
    }
    if let response = try fault?.rawResponse ?? fault?.refusal?.response() { return response }
    let token = "ya29.sim-\(Base64URL.encode((0..<24).map { _ in UInt8.random(in: 0...255) }))"
    exchangeCount += 1
    let bearer = SimulatedBearer(
      project: account.project, hasRole: account.hasRole, hasScope: true, endsAt: now + Int64(Self.expiresIn) * 1000)
    _ = registry.add(bearer, token)
    return try answer.response(token: token, expiresIn: Self.expiresIn)
  }
}

// Sending.
extension FCMBooks {
  /// Judges a request to send, records it, and delivers the message.
  /// - Parameter fault: its refusal replaces the success of a good message.
  /// - Returns: the name of the accepted message.
  mutating func send(
    _ body: [UInt8], to project: String, authorization: String?, fault: FCMFaultDocument?
  ) -> Result<String, GoogleError> {
    var record = MessageRecord(body, project: project, at: now)
    let result: Result<String, GoogleError>
    do throws(GoogleError) {
      let known = try admit(authorization, to: project)
      let message = try MessageInquiry(body)
      record.take(message)
      try judge(message, of: known)
      if let refusal = fault?.refusal { throw refusal }
      let name = "projects/\(known)/messages/\(message.isTrial ? "fake_message_id" : "0:\(now)%\(log.nextNumber)")"
      if !message.isTrial, fault?.rawResponse == nil { deliver(message, name) }
      record.name = name
      record.status = fault?.rawResponse?.status.code ?? 200
      result = .success(name)
    } catch {
      record.take(error)
      result = .failure(error)
    }
    append(record)
    return result
  }

  /// Checks who sends, and the project of the path.
  /// - Returns: the project's identifier.
  private func admit(_ authorization: String?, to name: String) throws(GoogleError) -> String {
    let parts = (authorization ?? "").split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer", let bearer = registry.bearers[String(parts[1])],
      bearer.endsAt > now
    else { throw .unauthenticated(hasBearer: parts.count == 2) }
    guard bearer.hasScope else {
      throw .denied(
        "Request had insufficient authentication scopes.", reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
    }
    guard let (identifier, project) = registry.project(name) else { throw .unknownProject }
    guard project.isEnabled else {
      throw .denied(
        "Firebase Cloud Messaging API has not been used in project \(identifier) before or it is disabled.",
        reason: "SERVICE_DISABLED")
    }
    guard bearer.hasRole, bearer.project == identifier else {
      throw .denied(
        "Permission 'cloudmessaging.messages.create' denied on resource "
          + "'//cloudresourcemanager.googleapis.com/projects/\(identifier)' (or it may not exist).",
        reason: "IAM_PERMISSION_DENIED")
    }
    return identifier
  }

  private mutating func judge(_ message: MessageInquiry, of project: String) throws(GoogleError) {
    if conduct.acceptsAnyToken, registry.devices[message.token] == nil {
      _ = registry.add(SimulatedDevice(project: project, lastActiveAt: now), message.token)
    }
    guard let device = registry.devices[message.token] else { throw .unregistered }
    switch device.state {
    case .unregistered: throw .unregistered
    case .wrongAPNSKey: throw .thirdParty
    case .busy: throw .deviceRate
    case .registered: break
    }
    guard now - device.lastActiveAt < SimulatedDevice.inactiveMillisecondsMax else { throw .unregistered }
    guard device.project == project else { throw .senderMismatch }
    guard message.package == nil || device.package == nil || message.package == device.package else {
      throw .invalid("The package name does not match the token.", field: "message.android.restricted_package_name")
    }
  }

  private mutating func deliver(_ message: MessageInquiry, _ name: String) {
    let now = now
    _ = registry.withDevice(message.token) { $0.receive(message, name: name, now: now) }
  }
}

/// What the stand-in knows: projects, service accounts, access tokens and devices.
struct SimulatedRegistry {
  /// More than any test registers, of each kind.
  static let entriesMax = 100_000

  /// The project of registrations without one.
  private(set) var firstProject = "demo-project"
  private(set) var projects: [String: SimulatedProject] = [:]
  private(set) var accounts: [String: SimulatedAccount] = [:]
  private(set) var bearers: [String: SimulatedBearer] = [:]
  private(set) var devices: [String: SimulatedDevice] = [:]

  /// The project of a path, which has its identifier or its number.
  func project(_ name: String) -> (identifier: String, project: SimulatedProject)? {
    if let project = projects[name] { return (name, project) }
    return projects.first { $0.value.number.map { "\($0)" } == name }.map { ($0.key, $0.value) }
  }

  mutating func add(_ project: SimulatedProject, _ identifier: String) -> Bool {
    if projects.isEmpty { firstProject = identifier }
    return Self.add(project, identifier, to: &projects)
  }

  /// Adds an account, and its project unless it is known.
  mutating func add(_ account: SimulatedAccount) -> Bool {
    if projects[account.project] == nil, !add(SimulatedProject(), account.project) { return false }
    return Self.add(account, account.email, to: &accounts)
  }

  /// When there are too many, the others end.
  mutating func add(_ bearer: SimulatedBearer, _ token: String) -> Bool {
    if bearers.count >= Self.entriesMax { removeBearers() }
    return Self.add(bearer, token, to: &bearers)
  }

  mutating func add(_ device: SimulatedDevice, _ token: String) -> Bool {
    Self.add(device, token, to: &devices)
  }

  mutating func removeDevice(_ token: String) -> Bool { devices.removeValue(forKey: token) != nil }

  mutating func removeBearers() { bearers = [:] }

  mutating func withDevice<Result>(_ token: String, _ body: (inout SimulatedDevice) -> Result) -> Result? {
    guard let index = devices.index(forKey: token) else { return nil }
    return body(&devices.values[index])
  }

  private static func add<Entry>(_ entry: Entry, _ name: String, to entries: inout [String: Entry]) -> Bool {
    guard entries.count < entriesMax || entries[name] != nil else { return false }
    entries[name] = entry
    return true
  }
}

struct SimulatedProject: Equatable {
  var number: Int64?
  /// Whether the interface is switched on.
  var isEnabled = true
}

struct SimulatedAccount {
  let email: String
  let project: String
  let keyIdentifier: String
  let key: RSAPublicKey
  /// Whether it may send.
  var hasRole = true
}

/// An access token.
struct SimulatedBearer {
  let project: String
  let hasRole: Bool
  /// Whether its scope allows to send.
  let hasScope: Bool
  /// Simulated milliseconds since 1970.
  let endsAt: Int64
}

/// A request to send and its answer, in the form of the control endpoint.
package struct MessageRecord: Codable, Equatable, NumberedRecord {
  /// From 1, without gaps; continues after records were forgotten.
  package var number = 0
  /// Simulated milliseconds since 1970.
  package internal(set) var arrivedMilliseconds: Int64
  /// The project of the path, as sent.
  package internal(set) var project: String
  /// The token or Firebase Installation ID; empty for a request that could not be read.
  package internal(set) var token = ""
  /// `projects/P/messages/ID` of an accepted message.
  package internal(set) var name: String?
  /// Whether it was only checked.
  package internal(set) var isTrial = false
  package internal(set) var status = 200
  /// FCM's `errorCode`, or Google's status, of a refused message.
  package internal(set) var reason: String?
  /// Whether it has a notification; otherwise it is data alone.
  package internal(set) var isNotification = false
  /// `HIGH` or `NORMAL`, as it is treated.
  package internal(set) var priority = "NORMAL"
  package internal(set) var ttlSeconds: Int64 = 0
  package internal(set) var collapseKey: String?
  /// `android.notification.tag`.
  package internal(set) var tag: String?
  /// The content as text. Invalid UTF-8 is replaced.
  package internal(set) var payload: String

  enum CodingKeys: String, CodingKey {
    case number, project, token, name, status, reason, priority, tag, payload
    case arrivedMilliseconds = "arrived_ms"
    case isTrial = "validate_only"
    case isNotification = "notification"
    case ttlSeconds = "ttl_s"
    case collapseKey = "collapse_key"
  }

  init(_ body: [UInt8], project: String, at milliseconds: Int64) {
    arrivedMilliseconds = milliseconds
    self.project = project
    payload = String(decoding: body, as: UTF8.self)
  }

  mutating func take(_ message: MessageInquiry) {
    token = message.token
    isTrial = message.isTrial
    isNotification = message.isNotification
    priority = message.isHigh ? "HIGH" : "NORMAL"
    ttlSeconds = message.ttlSeconds
    collapseKey = message.collapseKey
    tag = message.tag
  }

  mutating func take(_ refusal: GoogleError) {
    status = refusal.http
    reason = refusal.code ?? refusal.status
  }
}
