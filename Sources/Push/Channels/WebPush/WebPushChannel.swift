internal import Cryptography
internal import FoundationEssentials
internal import HTTPTransfers
package import PushRules
package import Reactors

/// Browsers, as the settings set them up.
package struct WebPushChannel: ConfiguredChannel {
  package static let channel = DeliveryChannel.webPush
  package static let settingPrefixes = ["VAPID_", "WEB_PUSH_"]
  package static let secretFiles = [WebPushSettings.privateKeyFile]

  package static let check = (name: "browsers", off: "VAPID_PRIVATE_KEY is not set")

  package static let service = "the push service"
  package static let reasons = ["address_not_allowed": "the endpoint leads to a private address"]
  // Everything is encrypted for the browser anyway (RFC 8291).
  package static let form = ChannelForm.encrypted

  package let signer: VAPIDSigner
  /// Where a click leads.
  package let links: WebPushLinks
  /// The push services that browsers may name.
  package let hosts: WebPushHosts
  /// The authorities trusted instead of the system's there, as PEM text; nil for the system's.
  private let certificates: String?

  package init?(_ values: WebPushSettings, _ reader: inout SettingsReader) {
    let fileName = WebPushSettings.privateKeyFile
    var key = values.privateKey
    if key == nil, let text = reader.file(fileName) {
      key = try? SettingParser<String>.privateKey(expected: WebPushSettings.keyExpectation)(text)
      if key == nil { reader.record(.unusable, fileName, "names a file without a P-256 private key") }
    }
    guard let key = key.flatMap({ try? P256PrivateKey(pem: $0) }) else { return nil }
    for name in [WebPushSettings.subject, WebPushSettings.links] where reader.text(name) == nil {
      reader.recordMissing(name)
    }
    guard let subject = values.subject, let links = values.links else { return nil }
    signer = VAPIDSigner(key: key, subject: subject)
    self.links = links
    hosts = values.hosts
    certificates = values.certificates
  }

  package var registration: TargetRegistration {
    .webPush(publicKey: signer.publicKeyText, hosts: hosts, links: links)
  }

  package func makeDeliverer(on reactor: isolated Reactor) -> any PushDeliverer {
    var configuration = WebPushClientConfiguration()
    if let certificates { configuration.trust = .only(certificates) }
    let client = WebPushClient(configuration, signer: signer, on: reactor)
    return WebPushDeliverer(client, hosts: hosts, links: links)
  }

  /// No push service can be asked without a subscription.
  package func examine(on reactor: isolated Reactor) async -> ChannelFinding {
    let services = hosts.routeNames.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    return .ok(
      "they subscribe with \(signer.publicKeyText.prefix(12))..., at \(services.joined(separator: ", ")); clicks open \(links.origin)"
    )
  }
}

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

/// Browsers are on where the key is set.
package struct WebPushSettings: SettingsGroup {
  /// One of these two switches it on.
  var privateKey: String?
  var privateKeyFile: String?
  var subject: VAPIDSubject?
  var links: WebPushLinks?
  var hosts = WebPushHosts.standard
  var certificates: String?

  static let privateKeyFile = SettingName.secret("VAPID_PRIVATE_KEY_FILE")
  static let (subject, links): (SettingName, SettingName) = ("VAPID_SUBJECT", "WEB_PUSH_URL")

  static let keyExpectation = "PEM text, such as that of tacet vapid-key"

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting(.secret("VAPID_PRIVATE_KEY"), \.privateKey, .privateKey(expected: keyExpectation)),
    Setting(privateKeyFile, \.privateKeyFile, .text),
    Setting(subject, \.subject, .vapidSubject),
    Setting(links, \.links, .webPushLinks),
    Setting("WEB_PUSH_HOSTS", \.hosts, .webPushHosts),
    Setting(certificates: "WEB_PUSH_CA_FILE", \.certificates),
  ]
}

extension WebPushError: FaultMessage {}

extension SettingParser<VAPIDSubject> {
  static var vapidSubject: Self {
    Self(expected: "mailto:ops@example.com, or an https: URL") { text throws(WebPushError) in try VAPIDSubject(text) }
  }
}

extension SettingParser<WebPushLinks> {
  static var webPushLinks: Self {
    Self(expected: "such as https://chat.example.com/c/{conversation_id}") { text throws(WebPushError) in
      try WebPushLinks(template: text)
    }
  }
}

extension SettingParser<WebPushHosts> {
  static var webPushHosts: Self {
    Self(expected: "names, *.names or addresses, separated by commas") { text throws(WebPushError) in
      try WebPushHosts(parsing: text)
    }
  }
}
