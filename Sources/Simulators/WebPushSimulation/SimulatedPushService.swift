internal import FoundationEssentials
internal import Reactors
internal import SimulationControl
internal import Synchronization

/// Subscriptions, faults and records of the stand-in. Usable from any thread; each call is one short critical section.
package final class SimulatedPushService: Sendable {
  /// The most subscriptions: some megabytes.
  private static let subscriptionsMax = 10_000

  let held = HeldRequests()
  private let books: Mutex<Books>

  private struct Books: Sendable {
    var subscriptions: [String: SimulatedSubscription] = [:]
    var faults = PushFaultScript()
    var log: PushLog
    var waiters: [(total: Int, signal: ReactorBound<Signal>)] = []
    /// Added to the wall clock, in milliseconds.
    var clockOffset: Int64 = 0
    var origin = ""
    var lastMessage = 0
  }

  init(recordsMax: Int) {
    books = Mutex(Books(log: PushLog(capacity: recordsMax)))
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
    books.withLock { $0.faults.append(fault) }
  }

  /// The waiting faults with their remaining counts.
  package var faults: [PushFault] { books.withLock { $0.faults.entries } }

  package func removeFaults() {
    books.withLock { $0.faults.removeAll() }
  }

  /// Moves the clock that tokens are judged by.
  package func advanceClock(milliseconds: Int64) {
    books.withLock { $0.clockOffset += milliseconds }
  }

  /// The newest records, oldest first.
  package var pushes: [PushRecord] { pushes(after: 0) }

  /// Requests since the start or ``forgetPushes()``, and how many had each outcome, such as `400 BadTtl`.
  package var totals: (total: Int, outcomes: [String: Int]) { books.withLock { ($0.log.total, $0.log.outcomes) } }

  /// Forgets records and counters. Numbers continue.
  package func forgetPushes() {
    books.withLock { $0.log.removeAll() }
  }

  func pushes(after number: Int, of subscription: String? = nil, limit: Int = .max) -> [PushRecord] {
    books.withLock { $0.log.records(after: number, of: subscription, limit: limit) }
  }

  /// - Returns: false when the limit passed first.
  func waitForPushes(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { books in
      books.waiters.append((count, bound))
      Self.signalWaiters(&books)
    }
    return await signal.wait(for: limit, on: reactor)
  }

  private static func signalWaiters(_ books: inout Books) {
    for waiter in books.waiters where waiter.total <= books.log.total { waiter.signal.submit { $0.signal(on: $1) } }
    books.waiters.removeAll { $0.total <= books.log.total }
  }
}

// A request is judged, hit by a fault, recorded and answered.
extension SimulatedPushService {
  func nextFault(for identifier: String) -> PushFault? {
    books.withLock { $0.faults.next(for: identifier) }
  }

  /// Judges a request and records it.
  /// - Parameter fault: changes the answer to a good push; one that closes the connection is recorded with status 0.
  func receive(_ inquiry: PushInquiry, for identifier: String, _ fault: PushFault?) -> PushResponse {
    let wall = Int64(Date().timeIntervalSince1970 * 1000)
    let (found, origin, now, message) = books.withLock { books in
      books.lastMessage += 1
      return (books.subscriptions[identifier], books.origin, wall + books.clockOffset, "m\(books.lastMessage)")
    }
    let subscription = found ?? SimulatedSubscription(identifier: identifier, state: .expired)
    var record = PushRecord(
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
      Self.signalWaiters(&books)
    }
    return response
  }
}

extension PushRecord {
  /// Adds what an accepted request says.
  fileprivate mutating func describe(
    _ push: JudgedPush, _ body: [UInt8], for subscription: SimulatedSubscription
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
