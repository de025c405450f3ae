internal import Cryptography
internal import FoundationEssentials
internal import Glibc
package import HTTPTransfers
internal import HTTPTypes
package import PushRules
package import Reactors
internal import Synchronization

/// The one access token of a service account in this process, shared by every reactor.
///
/// The first caller exchanges a signed assertion for it (RFC 7523), and the others wait. A new one is fetched 5
/// minutes before the end of the old one, which pushes use meanwhile.
package final class AccessTokenSource: Sendable {
  /// The longest time of an exchange. Google takes 0.2 to 0.4 s.
  private static let exchangeLimit = Duration.seconds(10)

  package let account: ServiceAccount

  private let clock: AccessTokenClock
  private let state: Mutex<State>

  private struct State {
    var machine: AccessTokenStateMachine
    /// Given when the exchange under way has ended.
    var waiting: [ReactorBound<Signal>] = []
  }

  /// A source without a token. The first push fetches one.
  package convenience init(_ account: ServiceAccount) {
    self.init(account, clock: AccessTokenClock())
  }

  init(_ account: ServiceAccount, clock: AccessTokenClock) {
    self.account = account
    self.clock = clock
    state = Mutex(State(machine: AccessTokenStateMachine(exchangeLimit: Self.exchangeLimit)))
  }

  /// The current token; fetches one first if there is none.
  /// - Parameters:
  ///   - transfers: a client of this reactor, for an exchange that begins here.
  ///   - deadline: monotonic nanoseconds.
  /// - Throws: ``AccessTokenError``, also when the deadline passes first.
  package func token(
    using transfers: HTTPTransferClient, until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(AccessTokenError) -> AccessToken {
    while true {
      let signal = Signal()
      switch ask(ReactorBound(signal, on: reactor)) {
      case .use(let token): return token
      case .useAndRenew(let token):
        reactor.start { await self.exchange(using: transfers, on: reactor) }
        return token
      case .refuse(let error): throw error
      case .exchange: reactor.start { await self.exchange(using: transfers, on: reactor) }
      case .wait: break
      }
      let limit = Duration.nanoseconds(Int64(clamping: deadline - min(Reactor.now, deadline)))
      guard await signal.wait(for: limit, on: reactor) else {
        throw AccessTokenError(.unavailable, "no_access_token_in_time", fault: .connection)
      }
    }
  }

  /// FCM has rejected a token. The next call of ``token(using:until:on:)`` returns another one.
  /// - Returns: false when the last rejection was less than a minute ago: the token stays, and the credentials are wrong.
  package func reject(_ token: AccessToken) -> Bool {
    state.withLock { $0.machine.reject(token, now: clock.now()) }
  }

  private func ask(_ signal: ReactorBound<Signal>) -> AccessTokenAction {
    state.withLock { state in
      let action = state.machine.ask(now: clock.now())
      if action == .wait || action == .exchange { state.waiting.append(signal) }
      return action
    }
  }

  private func exchange(using transfers: HTTPTransferClient, on reactor: isolated Reactor) async {
    let result: Result<AccessTokenAnswer, AccessTokenError>
    do throws(AccessTokenError) {
      result = .success(try await answer(using: transfers, on: reactor))
    } catch {
      result = .failure(error)
    }
    for signal in end(result) { signal.submit { $0.signal(on: $1) } }
  }

  /// - Returns: the callers that wait.
  private func end(_ result: Result<AccessTokenAnswer, AccessTokenError>) -> [ReactorBound<Signal>] {
    state.withLock { state in
      switch result {
      case .success(let answer): state.machine.succeed(answer, now: clock.now())
      case .failure(let error): state.machine.fail(error, now: clock.now(), draw: .random(in: 0..<1))
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func answer(
    using transfers: HTTPTransferClient, on reactor: isolated Reactor
  ) async throws(AccessTokenError) -> AccessTokenAnswer {
    let request = try request()
    let response: HTTPTransferResponse
    do throws(HTTPTransferError) {
      response = try await transfers.send(request, on: reactor)
    } catch {
      throw AccessTokenError(error)
    }
    return try AccessTokenAnswer(status: response.status.code, fields: response.fields, body: response.body)
  }

  private func request() throws(AccessTokenError) -> HTTPTransferRequest {
    let assertion: String
    do throws(CryptographyError) {
      assertion = try account.assertion(issuedAt: clock.wallSeconds())
    } catch {
      throw AccessTokenError(.credentials, "signature_failed", error.description, fault: .configuration)
    }
    // An assertion consists of characters that a form does not escape.
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    return HTTPTransferRequest(
      .post, url: account.tokenURI, fields: [.contentType: "application/x-www-form-urlencoded"],
      body: Array(form.utf8), deadline: Self.exchangeLimit, bodyBytesMax: AccessTokenAnswer.bytesMax)
  }
}

/// The two clocks of a source: tests move them.
struct AccessTokenClock: Sendable {
  /// Monotonic nanoseconds.
  var now: @Sendable () -> UInt64 = { Reactor.now }

  /// Unix seconds.
  var wallSeconds: @Sendable () -> Int64 = { Int64(time(nil)) }
}

/// What a push does for its access token.
enum AccessTokenAction: Equatable {
  case use(AccessToken)
  case useAndRenew(AccessToken)
  /// Begin an exchange and wait for its end.
  case exchange
  /// Wait for the end of the exchange that is under way.
  case wait
  case refuse(AccessTokenError)
}

/// The access token of a project: current, being exchanged, or missing after a failure. Pure: the time comes in, as
/// monotonic nanoseconds.
///
/// There is at most one exchange at a time. While the old token is valid, pushes go on with it.
struct AccessTokenStateMachine {
  /// The least time between two exchanges that a rejected token causes. A project whose tokens are always rejected
  /// would otherwise ask for one with every push.
  static let replacementInterval = Duration.seconds(60)

  /// The first wait after a failure, and the ceiling of the later, doubled ones.
  static let waits = (first: Duration.seconds(10), longest: Duration.seconds(300))

  private var token: AccessToken?
  private var failure: (error: AccessTokenError, retryAt: UInt64)?
  private var failureCount = 0
  private var replacedAt: UInt64?

  /// The exchange under way. After `endsAt` it counts as lost: its reactor has stopped.
  private var exchange: (begunAt: UInt64, endsAt: UInt64)?

  private let exchangeLimit: Duration

  init(exchangeLimit: Duration) {
    self.exchangeLimit = exchangeLimit
  }

  mutating func ask(now: UInt64) -> AccessTokenAction {
    let isExchanging = exchange.map { now < $0.endsAt } ?? false
    let isPausing = failure.map { now < $0.retryAt } ?? false
    if let token, now < token.endsAt {
      guard now >= token.renewedAt, !isExchanging, !isPausing else { return .use(token) }
      begin(now: now)
      return .useAndRenew(token)
    }
    if isExchanging { return .wait }
    if isPausing, let failure {
      var error = failure.error
      error.wait = .nanoseconds(Int64(clamping: failure.retryAt - now))
      return .refuse(error)
    }
    begin(now: now)
    return .exchange
  }

  /// FCM has rejected a token.
  /// - Returns: whether another token may be tried: a newer one, or the one of a new exchange.
  mutating func reject(_ rejected: AccessToken, now: UInt64) -> Bool {
    guard token == rejected else { return true }
    if let replacedAt, now &- replacedAt < Self.replacementInterval.clampedNanoseconds { return false }
    token = nil
    replacedAt = now
    return true
  }

  mutating func succeed(_ answer: AccessTokenAnswer, now: UInt64) {
    token = AccessToken(answer.token, lifetime: answer.lifetime, now: exchange?.begunAt ?? now)
    exchange = nil
    failure = nil
    failureCount = 0
  }

  /// The exchange has failed. The next one waits as long as the endpoint asks, and longer from failure to failure.
  /// - Parameter draw: a random number in `0 ..< 1`. It adds up to half of the wait, so that replicas spread.
  mutating func fail(_ error: AccessTokenError, now: UInt64, draw: Double) {
    let (first, longest) = Self.waits
    let grown = min(longest, first * (1 << min(failureCount, 16)))
    let wait = max(error.askedWait, grown) + grown / 2 * draw
    failureCount += 1
    exchange = nil
    failure = (error, now &+ wait.clampedNanoseconds)
  }

  private mutating func begin(now: UInt64) {
    exchange = (now, now &+ (exchangeLimit * 2).clampedNanoseconds)
  }
}

/// What a push shows FCM: a bearer token of an hour.
package struct AccessToken: Equatable, Sendable, CustomStringConvertible {
  /// The header field's value: `Bearer` and the token. A secret.
  let authorization: String

  /// When a new one is asked for. Monotonic nanoseconds.
  let renewedAt: UInt64

  /// When it is no longer used. Monotonic nanoseconds.
  let endsAt: UInt64

  /// Google says to renew a token 5 minutes before its end.
  private static let renewalLead = Duration.seconds(300)

  /// - Parameters:
  ///   - lifetime: from `now`. A short one is renewed at its half.
  init(_ text: String, lifetime: Duration, now: UInt64) {
    authorization = "Bearer \(text)"
    endsAt = now &+ lifetime.clampedNanoseconds
    renewedAt = endsAt &- min(Self.renewalLead, lifetime / 2).clampedNanoseconds
  }

  /// Without the token.
  package var description: String { "access token" }
}

/// Why there is no access token.
///
/// ``description`` is for an operator. It holds text of the token endpoint and no secret.
package struct AccessTokenError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to do about it.
  package enum Code: Sendable {
    /// The account, its key, a role, a scope or this machine's clock is wrong. An operator must change something.
    case credentials
    /// The endpoint or the connection fails at the moment. The pushes wait.
    case unavailable
  }

  package let code: Code

  /// The endpoint's word, such as `invalid_grant`, or what the connection did.
  package let reason: String

  /// The endpoint's explanation; empty for none. Untrusted text of at most 200 bytes.
  package let message: String

  package let fault: DeliveryFault

  /// The wait that the endpoint asks for; zero for none.
  package internal(set) var askedWait = Duration.zero

  /// The wait before the next exchange.
  package internal(set) var wait = Duration.zero

  private static let messageBytesMax = 200

  init(_ code: Code, _ reason: String, _ message: String = "", fault: DeliveryFault) {
    self.code = code
    self.reason = reason
    self.message = String(decoding: message.utf8.prefix(Self.messageBytesMax), as: UTF8.self)
    self.fault = fault
  }

  init(_ error: HTTPTransferError) {
    self.init(.unavailable, error.code.word, fault: .connection)
  }

  package var description: String { message.isEmpty ? reason : "\(reason): \(message)" }

  /// The end of a push that needed the token. Nothing was sent.
  var attempt: DeliveryAttempt {
    guard code == .unavailable else { return DeliveryAttempt(.fixCredentials, reason: reason, fault: .configuration) }
    var attempt = DeliveryAttempt(.retryLater(minimumWait: wait), reason: reason, fault: fault)
    attempt.askedWait = askedWait
    return attempt
  }
}

extension HTTPTransferError.Code {
  /// The reason of an attempt without an answer.
  var word: String {
    switch self {
    case .invalidRequest: "invalid_request_url"
    case .tooManyWaiting: "too_many_waiting"
    case .unresolved: "unresolved"
    case .forbidden: "forbidden_address"
    case .unreachable: "unreachable"
    case .untrusted: "untrusted_certificate"
    case .handshake: "handshake_failed"
    case .connectionLost: "connection_lost"
    case .invalidAnswer: "invalid_answer"
    case .tooLarge: "answer_too_large"
    case .timedOut: "timed_out"
    case .cancelled: "cancelled"
    case .closed: "closed"
    case .failed: "transfer_failed"
    }
  }
}

/// What the token endpoint answers.
///
/// Source: RFC 6749 section 5; Google, "Using OAuth 2.0 for Server to Server Applications".
struct AccessTokenAnswer: Equatable {
  /// The largest answer, in bytes. Google's have about 1 KiB.
  static let bytesMax = 16 * 1024

  /// The longest token, in bytes. Google's have up to 2 KiB.
  private static let tokenBytesMax = 4096

  /// Lifetimes outside this range are brought to its ends, in seconds. Google says 3599.
  private static let lifetimes: ClosedRange<Int64> = 60...3600

  /// Visible ASCII, so that it fits a header field.
  let token: String

  let lifetime: Duration

  /// - Throws: `credentials` for what only an operator can change, which includes a success without an access token:
  ///   the scope is not one of the account's. `unavailable` for 408, 429, 5xx and for a success that is not JSON, which
  ///   does not come from Google.
  init(status: Int, fields: HTTPFields, body: [UInt8]) throws(AccessTokenError) {
    let document = PayloadObject(reading: body.prefix(Self.bytesMax))
    guard status == 200 else { throw Self.refusal(status, fields, document) }
    guard let document else { throw AccessTokenError(.unavailable, "invalid_answer", fault: .service) }
    guard let token = document.text("access_token") else {
      throw AccessTokenError(.credentials, "no_access_token", fault: .configuration)
    }
    guard 1...Self.tokenBytesMax ~= token.utf8.count, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw AccessTokenError(.unavailable, "invalid_answer", fault: .service)
    }
    self.token = token
    let seconds = document.integer("expires_in") ?? Self.lifetimes.upperBound
    lifetime = .seconds(min(max(seconds, Self.lifetimes.lowerBound), Self.lifetimes.upperBound))
  }

  private static func refusal(_ status: Int, _ fields: HTTPFields, _ document: PayloadObject?) -> AccessTokenError {
    let word = document?.text("error").flatMap { AnswerWord($0)?.text } ?? "http_\(status)"
    let message = document?.text("error_description") ?? ""
    guard status == 408 || status == 429 || status >= 500 else {
      return AccessTokenError(.credentials, word, message, fault: .configuration)
    }
    var error = AccessTokenError(.unavailable, word, message, fault: status == 429 ? .throttle : .service)
    error.askedWait = RetryAfter.wait(fields) ?? .zero
    return error
  }
}

/// A code word of an answer: 1 to 64 letters, digits and underscores. Anything else in its place is ignored.
struct AnswerWord: Equatable {
  private static let bytesMax = 64

  let text: String

  init?(_ text: String) {
    guard 1...Self.bytesMax ~= text.utf8.count, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
