package import CoreMetrics
package import PushRules

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

  func count(_ attempt: PushAttempt) {
    guard attempt.disposition != .accepted else { return accepted.increment() }
    let answer = Answer(status: attempt.status, reason: attempt.reason)
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
