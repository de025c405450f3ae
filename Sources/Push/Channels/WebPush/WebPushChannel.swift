internal import Cryptography
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
