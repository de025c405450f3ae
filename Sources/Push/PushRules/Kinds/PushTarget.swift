internal import Cryptography
internal import FoundationEssentials

/// Where a push goes, as the host or an app has stored it: an address of a channel.
package struct PushTarget: Equatable, Sendable {
  /// The longest address, in bytes: an endpoint of a browser. A device token is half as long.
  package static let addressBytesMax = 1024

  package let channel: DeliveryChannel

  /// A device token, an endpoint or whatever else the channel knows its devices by; not yet checked.
  package let address: String

  /// `production` or `sandbox`; nil when the registration did not say, and for channels with one environment.
  package let environment: String?

  /// The app that got the address, not yet checked; nil when its registration did not say.
  package let app: String?

  /// What the channel needs beside the address, as the app has given it: a JSON object, not yet checked. Nil for nothing.
  package let keys: String?

  package init(
    _ channel: DeliveryChannel = .apns, address: String, environment: String? = nil, app: String? = nil,
    keys: String? = nil
  ) {
    self.channel = channel
    self.address = address
    self.environment = environment
    self.app = app
    self.keys = keys
  }
}

extension PushTarget {
  /// What stands for the target in the ledger and among the targets that have a push: the device token itself at APNs, else 32
  /// digits of the address's SHA-256, because who knows an endpoint can push to it.
  package var mark: String {
    channel == .apns ? address : SHA256.hash(Array(address.utf8)).hexadecimal(bytes: 16)
  }
}

extension PushTarget {
  private static let keysBytesMax = 4096

  /// The locale that its device asks for: the member `locale` of ``keys``. Nil without a readable one.
  package var locale: LocaleTag? {
    guard let keys, keys.utf8.count <= Self.keysBytesMax,
      let members = try? JSONDecoder().decode(Members.self, from: Data(keys.utf8))
    else { return nil }
    return LocaleTag(members.locale)
  }

  private struct Members: Decodable {
    let locale: String
  }
}

extension DeliveryChannel {
  /// Apple's push service. Targets that name no channel are of it.
  package static let apns = DeliveryChannel(rawValue: "apns")
}
