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
    for push: Push, to addressee: Addressee, over route: DeliveryRoute
  ) throws(PushRequestError) -> WebPushRequest {
    let endpoint = try endpoint(of: addressee.target)
    guard let stored = addressee.target.keys.flatMap({ PayloadObject(reading: $0.utf8) }),
      let p256dh = stored.text("p256dh"), let auth = stored.text("auth")
    else { throw PushRequestError(.targetMalformed, "the keys of a browser are missing") }
    do throws(WebPushError) {
      let subscription = WebPushSubscription(
        endpoint: endpoint, keys: try WebPushKeys(p256dh: p256dh, auth: auth), serverKey: stored.text("key"))
      return try request(push, to: addressee, at: subscription)
    } catch {
      throw PushRequestError(error)
    }
  }

  package func send(
    _ request: WebPushRequest, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    let attempt = await client.send(request, until: deadline, permit: permit, on: reactor)
    guard attempt.disposition == .fixCredentials else { return attempt }
    // The stored key is this server's, so a refusal is the route's fault, and what is refused now is taken later. But a user may have
    // registered a subscription of a foreign key: so the route stops only where several users are refused.
    var suspected = attempt.suspectingTarget
    suspected.repeatsPush = true
    return suspected
  }

  package func close(on reactor: isolated Reactor) { client.close(on: reactor) }

  private func endpoint(of target: PushTarget) throws(PushRequestError) -> WebPushEndpoint {
    do throws(WebPushError) {
      return try WebPushEndpoint(target.address, among: hosts)
    } catch {
      throw PushRequestError(error)
    }
  }

  private func request(
    _ push: Push, to addressee: Addressee, at subscription: WebPushSubscription
  ) throws(WebPushError) -> WebPushRequest {
    let life = addressee.expiresAt - clock()
    let topic = subscription.endpoint.delaysTopics ? nil : WebPushTopic(of: push.collapseIdentifier.text)
    switch push.payload {
    case .alert(let alert):
      let notification = try WebPushNotification(alert, of: push, to: addressee, links: links)
      let isUrgent =
        push.priority.map { $0 == .immediate } ?? isUrgent(addressee.subject, at: alert.interruptionLevel)
      return try WebPushRequest(
        to: subscription, content: try notification.fitted(), urgency: isUrgent ? .high : .normal,
        timeToLiveSeconds: life, topic: push.replacesOthers(than: addressee.subject) ? topic : nil)
    case .background(let custom):
      let content = WebPushClearing(custom, badge: addressee.badge)?.encoded()
      // A newer one says all that an older one did.
      return try WebPushRequest(
        to: subscription, content: content, urgency: .normal, timeToLiveSeconds: life, topic: topic)
    case .liveActivity: throw WebPushError(.notificationIncomplete, "browsers show no Live Activities")
    }
  }

  /// Whether a sleeping device is to be woken: for messages, and for what says that it is time-sensitive.
  private func isUrgent(_ subject: PushSubject, at level: InterruptionLevel?) -> Bool {
    switch level {
    case .passive, .active: false
    case .timeSensitive, .critical: true
    case nil: subject.kind == MessagePush.name
    }
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

extension WebPushNotification {
  /// The notification that says what an alert says to an iPhone.
  /// - Throws: `notificationIncomplete` when there is no text to show.
  package init(
    _ alert: AlertPayload, of push: Push, to addressee: Addressee, links: WebPushLinks
  ) throws(WebPushError) {
    var data = alert.custom
    data["push_log_id"] = .string(addressee.logID)
    let image = data["image_url"]?.text
    data["image_url"] = nil
    let title = alert.title?.words ?? ""
    let lines = [alert.subtitle?.words, alert.body?.words].compactMap { $0?.isEmpty == false ? $0 : nil }
    try self.init(
      title: title.isEmpty ? lines.first ?? "" : title, link: links.link(for: alert.custom),
      body: lines.isEmpty || title.isEmpty && lines.count == 1 ? nil : lines.joined(separator: "\n"),
      tag: push.collapseIdentifier.text, language: push.locale?.text, badge: addressee.badge, image: image,
      isSilent: alert.sound == nil,
      // What replaces others says something new. The same push once more, after an answer was lost, does not.
      alertsAgain: push.replacesOthers(than: addressee.subject), data: data)
  }
}

/// A push that takes notifications away which were read elsewhere: `{"web_push":8030,"tacet":{"clear":["<tag>"],"app_badge":2}}`.
///
/// The worker shows one of the remaining notifications again without a sound, or a quiet line, because browsers end subscriptions
/// whose pushes show nothing.
struct WebPushClearing {
  private let tags: [PayloadValue]
  private let badge: Int?

  /// Nil for a push that only wakes the app: browsers fetch.
  init?(_ custom: PayloadObject, badge: Int?) {
    guard custom["type"]?.text == "read", case .array(let ids)? = custom["message_ids"] else { return nil }
    // The newest come first.
    tags = Array(ids.prefix(40))
    self.badge = badge
  }

  func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 2048) { json in
      json.append(member: "web_push", integer: 8030)
      var tacet: PayloadObject = ["clear": .array(tags)]
      if let badge { tacet["app_badge"] = .integer(Int64(badge)) }
      json.append(name: "tacet")
      json.append(object: tacet)
    }
  }
}

/// Where a click on a notification leads: a template such as `https://chat.example.com/c/{conversation_id}`.
///
/// `{name}` stands for a member of the push's own data. A push without one of the template's members leads to the root of the
/// template's site.
package struct WebPushLinks: Equatable, Sendable {
  package static let bytesMax = 512

  private enum Part: Equatable {
    case text(String)
    case member(String)
  }

  /// The scheme, the host and any port.
  package let origin: String

  private let parts: [Part]

  /// Reads the setting `WEB_PUSH_URL`: an `https` URL; `http` for `localhost` and 127.0.0.1, where browsers allow workers too.
  /// - Throws: `linkMalformed`.
  package init(template: String) throws(WebPushError) {
    guard template.utf8.count <= Self.bytesMax, let origin = Self.origin(of: template),
      let parts = Self.parts(of: template)
    else { throw WebPushError(.linkMalformed, "not an https URL with members in braces, such as {conversation_id}") }
    self.origin = origin
    self.parts = parts
  }

  func link(for data: PayloadObject) -> String {
    var link = ""
    for part in parts {
      switch part {
      case .text(let text): link += text
      case .member(let name):
        guard let value = data[name]?.linkText else { return origin + "/" }
        link += value
      }
    }
    return link
  }

  private static func origin(of template: String) -> String? {
    for scheme in ["https://", "http://localhost", "http://127.0.0.1"] where template.hasPrefix(scheme) {
      let authority = template.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
      guard let place = HostAndPort(authority), scheme == "https://" || isLocal(place.host) else { return nil }
      return (scheme == "https://" ? "https://" : "http://") + authority.lowercased()
    }
    return nil
  }

  private static func isLocal(_ host: HostName) -> Bool { ["localhost", "127.0.0.1"].contains(host.text) }

  /// Nil for an open brace, an empty name, and what no URL holds. The host has no member.
  private static func parts(of template: String) -> [Part]? {
    var parts: [Part] = []
    var rest = template[...]
    while let start = rest.firstIndex(of: "{") {
      guard let end = rest[start...].firstIndex(of: "}") else { return nil }
      let name = rest[rest.index(after: start)..<end]
      guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }) else {
        return nil
      }
      parts += [.text(String(rest[..<start])), .member(String(name))]
      rest = rest[rest.index(after: end)...]
    }
    parts.append(.text(String(rest)))
    let isClean = parts.allSatisfy { part in
      guard case .text(let text) = part else { return true }
      return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#""<>\^`|}"#.utf8.contains($0) }
    }
    return isClean ? parts : nil
  }
}

extension PayloadValue {
  /// The value as a part of a link: unreserved characters stay (RFC 3986 §2.3), all others are escaped. Nil for what is no text.
  fileprivate var linkText: String? {
    switch self {
    case .string(let text): Self.escaped(text)
    case .integer(let number): "\(number)"
    default: nil
    }
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8.prefix(512) {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return escaped
  }
}
