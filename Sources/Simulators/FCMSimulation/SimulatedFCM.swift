internal import Cryptography
internal import DequeModule
internal import Glibc
internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import SimulationControl
internal import Synchronization

/// The state of a simulated FCM: registry, records, faults and clock. Usable from any thread; each call is one short
/// critical section.
package final class SimulatedFCM: Sendable {
  /// Requests that wait for the time of their answer, or until the simulator stops.
  let held = HeldRequests()

  private let books: Mutex<Books>

  init(recordsMax: Int) {
    books = Mutex(Books(recordsMax: max(1, recordsMax)))
  }

  /// The newest requests to send, oldest first.
  package var messages: [MessageRecord] { books.withLock { Array($0.records) } }

  /// Requests to send since the start or the last ``forgetMessages()``.
  package var messageCount: Int { books.withLock { $0.total } }

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

  func withBooks<Result>(_ body: (inout Books) throws -> sending Result) rethrows -> sending Result {
    try books.withLock { try body(&$0) }
  }

  /// Waits until so many requests to send have come.
  /// - Returns: false when the limit passed first.
  func waitForMessages(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { $0.add(bound, at: count) }
    return await signal.wait(for: limit, on: reactor)
  }
}

/// The state, guarded by one lock.
struct Books {
  var registry = SimulatedRegistry()
  var faults: [FaultDocument] = []
  var conduct = Conduct()
  var audiences: Set<String> = []
  /// Milliseconds that the simulated clock is ahead.
  var clockOffset: Int64 = 0
  private(set) var records: Deque<MessageRecord> = []
  private(set) var total = 0
  private(set) var exchangeCount = 0
  private let recordsMax: Int
  private var lastNumber = 0
  private var waiters: [(total: Int, signal: ReactorBound<Signal>)] = []

  init(recordsMax: Int) {
    self.recordsMax = recordsMax
  }

  /// Simulated milliseconds since 1970.
  var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000 + clockOffset
  }

  mutating func append(_ record: MessageRecord) {
    var record = record
    total += 1
    lastNumber += 1
    record.number = lastNumber
    if records.count == recordsMax { records.removeFirst() }
    records.append(record)
    signalWaiters()
  }

  mutating func forget() {
    records = []
    total = 0
    exchangeCount = 0
  }

  /// Gives the signal as soon as the total is reached.
  mutating func add(_ signal: ReactorBound<Signal>, at total: Int) {
    waiters.append((total, signal))
    signalWaiters()
  }

  private mutating func signalWaiters() {
    for waiter in waiters where waiter.total <= total { waiter.signal.submit { $0.signal(on: $1) } }
    waiters.removeAll { $0.total <= total }
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
extension Books {
  /// Google's lifetime of an access token.
  static let expiresIn = 3599

  /// Judges a request for an access token.
  /// - Parameter fault: its answer replaces a success, and then there is no token.
  mutating func exchange(_ form: [String: String], fault: FaultDocument?) throws -> HTTPServerResponse {
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
extension Books {
  /// Judges a request to send, records it, and delivers the message.
  /// - Parameter fault: its refusal replaces the success of a good message.
  /// - Returns: the name of the accepted message.
  mutating func send(
    _ body: [UInt8], to project: String, authorization: String?, fault: FaultDocument?
  ) -> Result<String, GoogleError> {
    var record = MessageRecord(body, project: project, at: now)
    let result: Result<String, GoogleError>
    do throws(GoogleError) {
      let known = try admit(authorization, to: project)
      let message = try MessageInquiry(body)
      record.take(message)
      try judge(message, of: known)
      if let refusal = fault?.refusal { throw refusal }
      let name = "projects/\(known)/messages/\(message.isTrial ? "fake_message_id" : "0:\(now)%\(lastNumber + 1)")"
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
