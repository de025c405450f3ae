internal import FoundationEssentials
package import PushRules
package import Reactors

extension DeliveryChannel {
  /// Browsers, over their vendors' push services (RFC 8030).
  package static let webPush = DeliveryChannel(rawValue: "web_push")
}

/// The deliverer of browsers: a route for each push service of the operator's list.
package final class WebPushDeliverer {
  private let client: WebPushClient
  private let hosts: WebPushHosts
  private let links: WebPushLinks
  private let clock: () -> Int64

  /// Makes a deliverer on the client's reactor.
  /// - Parameters:
  ///   - hosts: where endpoints may be.
  ///   - links: where a click leads.
  ///   - clock: Unix seconds; nil for the machine's wall clock.
  package init(
    _ client: WebPushClient, hosts: WebPushHosts = .standard, links: WebPushLinks, clock: (() -> Int64)? = nil
  ) {
    self.client = client
    self.hosts = hosts
    self.links = links
    self.clock = clock ?? { Int64(Date().timeIntervalSince1970) }
  }
}

extension WebPushDeliverer: PushDeliverer {
  package var channel: DeliveryChannel { .webPush }

  package var routes: [DeliveryRoute] { hosts.routeNames.map { DeliveryRoute(.webPush, name: $0) } }

  package var pushesInFlightMax: Int? { client.pushesPerOriginMax }

  /// The route to the endpoint's push service.
  /// - Throws: `targetMalformed` for an endpoint that is not of one.
  package func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute {
    DeliveryRoute(.webPush, name: try endpoint(of: target).routeName)
  }

  /// The push as one for browsers: a notification, an empty push that makes the worker fetch, or what to clear.
  /// - Throws: ``PushRequestError`` for keys that cannot be a browser's, and for content that browsers cannot have.
  package func request(
    for push: OutgoingPush, over route: DeliveryRoute
  ) throws(PushRequestError) -> any DeliveryRequest {
    let endpoint = try endpoint(of: push.target)
    let keys = try StoredKeys(push.target.keys)
    do throws(WebPushError) {
      return WebPushDelivery(
        request: try request(push, to: endpoint),
        subscription: WebPushSubscription(
          endpoint: endpoint, keys: try WebPushKeys(p256dh: keys.p256dh, auth: keys.auth), serverKey: keys.key))
    } catch {
      throw PushRequestError(error)
    }
  }

  package func send(
    _ request: any DeliveryRequest, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    guard let delivery = request as? WebPushDelivery else { preconditionFailure("a request of another deliverer") }
    let attempt = await client.send(
      delivery.request, to: delivery.subscription, until: deadline, permit: permit, on: reactor)
    guard attempt.disposition == .fixCredentials else { return attempt }
    // The stored key is this server's, so a refusal is the route's fault, and what is refused now is taken later. But a user may have
    // registered a subscription of a foreign key: so the route stops only where several users are refused.
    var suspected = attempt.suspectingTarget
    suspected.repeatsPush = true
    return suspected
  }

  private func endpoint(of target: PushTarget) throws(PushRequestError) -> WebPushEndpoint {
    do throws(WebPushError) {
      return try WebPushEndpoint(target.address, among: hosts)
    } catch {
      throw PushRequestError(error)
    }
  }

  private func request(
    _ push: OutgoingPush, to endpoint: WebPushEndpoint
  ) throws(WebPushError) -> WebPushRequest {
    let life = push.expiresAt - clock()
    let topic = endpoint.delaysTopics ? nil : WebPushTopic(of: push.push.collapseIdentifier.text)
    switch push.push.document {
    case .alert(_, let alert):
      let notification = try WebPushNotification(alert, of: push, links: links)
      let isUrgent = push.push.priority.map { $0 == .immediate } ?? push.isUrgent(at: alert.interruptionLevel)
      return try WebPushRequest(
        content: try notification.fitted(), urgency: isUrgent ? .high : .normal, timeToLiveSeconds: life,
        topic: push.replacesOthers ? topic : nil)
    case .background(let custom):
      let content = WebPushClearing(custom, badge: push.badge)?.encoded()
      // A newer one says all that an older one did.
      return try WebPushRequest(content: content, urgency: .normal, timeToLiveSeconds: life, topic: topic)
    case .liveActivity: throw WebPushError(.notificationIncomplete, "browsers show no Live Activities")
    }
  }
}

extension OutgoingPush {
  /// Whether a sleeping device is to be woken: for messages, and for what says that it is time-sensitive.
  fileprivate func isUrgent(at level: InterruptionLevel?) -> Bool {
    switch level {
    case .passive, .active: false
    case .timeSensitive, .critical: true
    case nil: subject.kind == MessagePush.name
    }
  }
}

struct WebPushDelivery: DeliveryRequest {
  let request: WebPushRequest
  let subscription: WebPushSubscription

  /// A service names a push in its answer, if at all.
  var identifier: String? { nil }
}

/// What is kept beside an endpoint.
private struct StoredKeys: Decodable {
  let p256dh: String
  let auth: String
  /// The application server key that the browser subscribed with.
  let key: String?

  init(_ text: String?) throws(PushRequestError) {
    guard let text, let keys = try? JSONDecoder().decode(StoredKeys.self, from: Data(text.utf8)) else {
      throw PushRequestError(.targetMalformed, "the keys of a browser are missing")
    }
    self = keys
  }
}

extension PushRequestError {
  fileprivate init(_ error: WebPushError) {
    switch error.code {
    case .payloadTooLarge: self.init(.payloadTooLarge, error.message)
    case .notificationIncomplete: self.init(.nothingToShow, error.message)
    default: self.init(.targetMalformed, error.description)
    }
  }
}
