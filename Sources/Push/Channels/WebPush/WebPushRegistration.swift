internal import FoundationEssentials
internal import PushRules

extension TargetRegistration {
  /// A browser tells its subscription, as `PushSubscription.toJSON()` has it.
  /// - Parameter publicKey: what browsers subscribe with, as `VAPIDSigner.publicKeyText`.
  package static func webPush(publicKey: String, hosts: WebPushHosts, links: WebPushLinks) -> TargetRegistration {
    var registration = TargetRegistration(
      .webPush, path: "/v1/web-push/subscriptions",
      registered: Document("endpoint", "keys", "expirationTime", "expiration_time") { body in
        let endpoint = try body.decode(String.self, forKey: "endpoint")
        let keys = try body.decode(SubscriptionKeys.self, forKey: "keys")
        let expiresAt = try expiry(in: body)
        var target = Target(try self.target(endpoint, keys, publicKey, hosts, in: body))
        target.expiresAt = expiresAt
        return target
      })
    registration.removed = Document("endpoint") { body in
      let endpoint = try body.decodeText("endpoint", "must be an endpoint") {
        (1...WebPushEndpoint.bytesMax).contains($0.utf8.count)
      }
      // As it was stored, if it can be one.
      let address = endpoint.flatMap { try? WebPushEndpoint($0, among: hosts) }?.url ?? endpoint ?? ""
      return PushTarget(.webPush, address: address)
    }
    registration.prerequisite = ("/v1/web-push/key", ["public_key": .string(publicKey)])
    registration.worker = Worker(
      document: { alert, push, addressee in
        try WebPushNotification(alert, of: push, to: addressee, links: links).fitted()
      },
      ended: (
        "endpoint",
        "The push service has ended this subscription: end it in the browser, and subscribe anew."
      ))
    return registration
  }

  /// Microseconds since 1970; nil for never. `expiration_time` is a text in place of the number.
  private static func expiry(in body: Members) throws -> Int64? {
    let milliseconds = try body.decodeIfPresent(Double.self, forKey: "expirationTime")
    // Up to the year 9999.
    try body.require(
      milliseconds.map((0...253_402_300_799_999).contains) != false, "expirationTime", "must be milliseconds since 1970"
    )
    let text = try body.decodeText("expiration_time", "must be a time as RFC 3339 writes it") {
      InstantText.microseconds(of: $0) != nil
    }
    return text.flatMap(InstantText.microseconds) ?? milliseconds.map { Int64($0) * 1000 }
  }

  private static func target(
    _ endpoint: String, _ keys: SubscriptionKeys, _ publicKey: String, _ hosts: WebPushHosts, in body: Members
  ) throws -> PushTarget {
    do throws(WebPushError) {
      let endpoint = try WebPushEndpoint(endpoint, among: hosts)
      _ = try WebPushKeys(p256dh: keys.p256dh, auth: keys.auth)
      var stored = keys
      stored.key = publicKey
      let document = (try? JSONEncoder().encode(stored)).map { String(decoding: $0, as: UTF8.self) }
      return PushTarget(.webPush, address: endpoint.url, keys: document)
    } catch {
      let demand = "cannot be used: \(error.message)"
      throw switch error.code {
      case .publicKeyMalformed: body.fault(at: ["keys", "p256dh"], demand)
      case .authenticationSecretMalformed: body.fault(at: ["keys", "auth"], demand)
      default: body.fault(at: ["endpoint"], demand)
      }
    }
  }
}

private struct SubscriptionKeys: Codable {
  let p256dh: String
  let auth: String
  /// The application server key that the browser subscribed with.
  var key: String?
}
