package import CoreMetrics
package import PushRules
package import Reactors

/// How one request to APNs ended.
///
/// A resend keeps the identifier, the fields and the body. Source: RFC 9113 §8.7 (request reliability).
package enum APNSOutcome: Equatable, Sendable {
  case answered(APNSAnswer)
  /// APNs certainly did not process it: it was never written, its stream was refused (`REFUSED_STREAM`), or a GOAWAY named a lower last
  /// stream. It can be resent at once on another connection.
  case notProcessed(cause: String)
  /// It was on its way when the connection ended, so APNs may have delivered it. A resend may repeat it, which the collapse identifier
  /// hides on the screen.
  case unknown(cause: String)
  /// APNs has closed the connection because of a credential or a setting, for this reason; the push was not sent.
  case refused(APNSReason)
  /// Its permit ended before a stream was free; the push was not sent.
  case withdrawn

  package var status: Int? {
    if case .answered(let answer) = self { answer.status } else { nil }
  }

  /// What the sender does next. A push whose fate is unknown may be resent, because its identifiers stay the same.
  package var disposition: PushDisposition { ruling.disposition }

  fileprivate var ruling: AnswerTable.Ruling {
    switch self {
    case .answered(let answer): answer.ruling
    case .notProcessed, .unknown, .withdrawn: .init(.retryLater(minimumWait: .zero), fault: .connection)
    case .refused: .fixCredentials
    }
  }

  /// APNs' reason, `http_` and the status without one, or what the connection did. Nil for an accepted push.
  package var reason: String? {
    switch self {
    case .answered(let answer) where answer.status == 200: nil
    case .withdrawn: nil
    case .answered(let answer): answer.reason?.rawValue ?? "http_\(answer.status)"
    case .notProcessed: "apns_unreachable"
    case .unknown: "apns_answer_lost"
    case .refused(let reason): reason.rawValue
    }
  }

  /// Whether it shows that the connection works: APNs took the push, or refused it for the fault of the push or its device.
  var provesConnection: Bool {
    switch disposition {
    case .accepted, .dropToken, .suspectToken, .never, .fixRequest: return true
    case .fixCredentials, .refreshProviderToken, .reconnect: return false
    case .retryLater:
      guard case .answered(let answer) = self else { return false }
      return answer.reason == "TooManyRequests"
    }
  }
}

/// Sends pushes to APNs: the router, or a script in a test.
package protocol APNSSender: AnyObject {
  /// Sends a push once, and again only when APNs provably did not process it.
  /// - Parameters:
  ///   - deadline: the latest end of the attempt, in monotonic nanoseconds, as `Reactor.now`.
  ///   - permit: asked each time before the push goes; one that has ended withdraws it. Nil lets it go.
  func send(
    _ request: APNSRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> APNSOutcome
}

// What the end of a request shows of its route, its environment and its reason.
extension DeliveryAttempt {
  package init(_ outcome: APNSOutcome) {
    let ruling = outcome.ruling
    self.init(ruling.disposition, status: outcome.status, reason: outcome.keptReason, fault: ruling.fault)
    if case .answered(let answer) = outcome { askedWait = answer.retryAfter ?? .zero }
    isWithdrawn = outcome == .withdrawn
    if ruling.disposition == .suspectToken && outcome.reason == "BadDeviceToken" { otherEnvironment = .mayKnowTarget }
    if ruling.fault == .configuration, outcome.refusesEnvironment { otherEnvironment = .ownsCredential }
  }
}

extension APNSOutcome {
  /// Whether APNs refuses the credential because it is not for this environment. Other refusals of a credential sometimes hit
  /// a valid one.
  fileprivate var refusesEnvironment: Bool { reason.map(Self.environmentRefusals.contains) == true }

  private static let environmentRefusals: Set = [
    "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
  ]

  /// The reason. An empty one counts as a missing one.
  fileprivate var keptReason: String? {
    if case .answered(let answer) = self, answer.reason?.rawValue == "" { return "http_\(answer.status)" }
    return reason
  }
}

/// Counts APNs' answers by route, status and reason, as `tacet_apns_answers_total{app, environment, status, reason}`. One for each router, on its reactor.
///
/// Every request that has ended counts, resends included. A plain success has the reason `none`. A request without an answer
/// has the status `none`, and the reason says what the connection did. APNs chooses the reasons, so the backend must bound a
/// family's series.
package final class APNSMetrics {
  private let factory: any MetricsFactory
  private var routes: [PushRoute: AnswerCounters] = [:]
  /// The counters of the latest route, which most pushes share with the one before.
  private var latest: AnswerCounters?

  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
  }

  /// Shows a route's accepted pushes from now on, even zero: a rate needs a figure from before the first push.
  package func show(_ route: PushRoute) { _ = answers(over: route) }

  /// The counters of a route; made once for each.
  func answers(over route: PushRoute) -> AnswerCounters {
    if let latest, latest.route == route { return latest }
    let answers = routes[route] ?? AnswerCounters(of: route, factory)
    routes[route] = answers
    latest = answers
    return answers
  }
}

package final class AnswerCounters {
  private struct Answer: Hashable {
    let status: Int?
    let reason: String?
  }

  /// Counters that are kept here; Apple documents some thirty reasons.
  private static let handlesMax = 64

  /// The longest reason that becomes a label, in characters; Apple's longest has 27.
  private static let reasonMax = 64

  private let factory: any MetricsFactory
  fileprivate let route: PushRoute
  private let accepted: Counter
  private var others: [Answer: Counter] = [:]

  init(of route: PushRoute, _ factory: any MetricsFactory) {
    self.factory = factory
    self.route = route
    accepted = Self.counter(Answer(status: 200, reason: nil), route, factory)
  }

  func count(_ outcome: APNSOutcome) {
    guard outcome.disposition != .accepted else { return accepted.increment() }
    let answer = Answer(status: outcome.status, reason: outcome.reason)
    if let known = others[answer] { return known.increment() }
    let made = Self.counter(answer, route, factory)
    if others.count < Self.handlesMax { others[answer] = made }
    made.increment()
  }

  private static func counter(_ answer: Answer, _ route: PushRoute, _ factory: any MetricsFactory) -> Counter {
    let dimensions = [
      ("app", route.app.text), ("environment", route.environment.rawValue),
      ("status", answer.status.map { "\($0)" } ?? "none"),
      ("reason", answer.reason.map { String($0.prefix(reasonMax)) } ?? "none"),
    ]
    return Counter(label: "tacet_apns_answers_total", dimensions: dimensions, factory: factory)
  }
}
