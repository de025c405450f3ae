internal import Reactors

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
