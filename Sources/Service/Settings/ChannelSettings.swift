package import Channels
internal import Cryptography
internal import FoundationEssentials

struct WebPushTable: Sendable {
  /// One of these two switches it on.
  let privateKey = Setting("VAPID_PRIVATE_KEY", .vapidKey, .secret)
  let privateKeyFile = Setting("VAPID_PRIVATE_KEY_FILE", .text, .secret)
  /// Whom push services may ask about the sender.
  let subject = Setting("VAPID_SUBJECT", .vapidSubject)
  /// Where a click leads.
  let links = Setting("WEB_PUSH_URL", .webPushLinks)
  /// The push services that browsers may name.
  let hosts = Setting("WEB_PUSH_HOSTS", default: WebPushHosts.standard, .webPushHosts)
  /// The authorities trusted instead of the system's there.
  let certificates = Setting(certificates: "WEB_PUSH_CA_FILE")
}

package struct WebPushSettings: Equatable, Sendable {
  /// The P-256 key as PEM text, checked to be one.
  package let privateKey: Secret<String>
  package let subject: VAPIDSubject
  package let links: WebPushLinks
  let values: SettingValues<WebPushTable>

  package var hosts: WebPushHosts { values.hosts }
  /// The authorities trusted instead of the system's there, as PEM text; nil for the system's.
  package var certificates: String? { values.certificates }

  /// Nil without a key, and when a problem was recorded.
  init?(_ values: SettingValues<WebPushTable>, _ reader: inout SettingsReader) {
    let table = WebPushTable()
    self.values = values
    var key = values.privateKey
    if key == nil, let text = reader.file(table.privateKeyFile.name) {
      key = try? SettingParser<String>.vapidKey(text)
      if key == nil { reader.record(.unusable, table.privateKeyFile.name, "names a file without a P-256 private key") }
    }
    guard let key else { return nil }
    for name in [table.subject.name, table.links.name] where reader.text(name) == nil { reader.recordMissing(name) }
    guard let subject = values.subject, let links = values.links else { return nil }
    privateKey = Secret(key)
    self.subject = subject
    self.links = links
  }
}

extension SettingParser<String> {
  /// In a setting of one line, `\n` stands for the end of a line. The value is the key in one form, however it was written.
  static var vapidKey: Self {
    Self { text throws(UnusableValue) in
      let pem = text.split(separator: #"\n"#, omittingEmptySubsequences: false).joined(separator: "\n")
      guard let key = try? P256PrivateKey(pem: pem) else {
        throw UnusableValue("not a P-256 private key", expected: "PEM text, such as that of tacet vapid-key")
      }
      return key.pem
    }
  }
}

extension SettingParser<VAPIDSubject> {
  static var vapidSubject: Self {
    Self { text throws(UnusableValue) in
      do throws(WebPushError) {
        return try VAPIDSubject(text)
      } catch {
        throw UnusableValue(error.message, expected: "mailto:ops@example.com, or an https: URL")
      }
    }
  }
}

extension SettingParser<WebPushLinks> {
  static var webPushLinks: Self {
    Self { text throws(UnusableValue) in
      do throws(WebPushError) {
        return try WebPushLinks(template: text)
      } catch {
        throw UnusableValue(error.message, expected: "such as https://chat.example.com/c/{conversation_id}")
      }
    }
  }
}

extension SettingParser<WebPushHosts> {
  static var webPushHosts: Self {
    Self { text throws(UnusableValue) in
      do throws(WebPushError) {
        return try WebPushHosts(parsing: text)
      } catch {
        throw UnusableValue(error.message, expected: "names, *.names or addresses, separated by commas")
      }
    }
  }
}

struct FCMTable: Sendable {
  /// Who shows a message.
  enum Presentation: String, CaseIterable, Sendable {
    /// Android, while the app is in the background.
    case notification
    /// The app, which gets data alone.
    case data
  }

  /// One of these two switches it on.
  let account = Setting("FCM_SERVICE_ACCOUNT", .text, .secret)
  let accountFile = Setting("FCM_SERVICE_ACCOUNT_FILE", .text, .secret)
  let presentation = Setting("FCM_MESSAGES", default: Presentation.notification, .choice)
  /// The app's notification channel; nil for the one of its manifest.
  let channel = Setting("FCM_CHANNEL_ID", .text)
  /// Google's server, unless a test names another.
  let server = Setting("FCM_URL", default: FCMConfiguration(), .fcmServer)
  /// The authorities trusted instead of the system's there.
  let certificates = Setting(certificates: "FCM_CA_FILE")
}

/// How to push to Android devices.
package struct FCMSettings: Equatable, Sendable {
  package let account: ServiceAccount
  private let text: String
  let values: SettingValues<FCMTable>

  package var style: FCMStyle {
    var style = FCMStyle()
    style.presentation = values.presentation == .data ? .dataOnly : .notification
    style.channelIdentifier = values.channel
    return style
  }

  package var configuration: FCMConfiguration {
    values.certificates.map(values.server.trusting) ?? values.server
  }

  /// Nil without an account, and when a problem was recorded.
  init?(_ values: SettingValues<FCMTable>, _ reader: inout SettingsReader) {
    let table = FCMTable()
    self.values = values
    let name = values.account == nil ? table.accountFile.name : table.account.name
    guard let text = values.account ?? reader.file(name) else { return nil }
    do throws(ServiceAccountError) {
      account = try ServiceAccount(json: Array(text.utf8))
      self.text = text
    } catch {
      reader.record(.unusable, name, "is not usable: \(error); expected the JSON file of a Google service account")
      return nil
    }
  }

  package static func == (one: Self, other: Self) -> Bool { one.text == other.text && one.values == other.values }
}

extension SettingParser<FCMConfiguration> {
  static var fcmServer: Self {
    Self { text throws(UnusableValue) in
      guard let configuration = FCMConfiguration(baseURL: text) else {
        throw UnusableValue("not the address of a server", expected: "https://host, or http on this machine")
      }
      return configuration
    }
  }
}

struct EventTable: Sendable {
  /// The host's webhook; secret, as it may hold a token. Without it no events are sent.
  let url = Setting("EVENTS_URL", .eventsURL, .secret)
  /// What each event is signed with; several while one replaces another.
  let secrets = Setting("EVENTS_SECRET", default: [], .webhookSecrets, .secret)
  /// How long after its first attempt an event is dead.
  let givesUp = Setting("EVENTS_RETRY_HOURS", default: 72, .integer(in: 1...720))
  /// The authorities trusted instead of the system's there.
  let certificates = Setting(certificates: "EVENTS_CA_FILE")
}

/// Where events go that the host gets.
package struct EventSettings: Equatable, Sendable {
  /// The host's webhook: `https`, or `http` on this machine.
  package let url: Secret<String>
  /// The keys that sign each event; at least one.
  package let signingKeys: [Secret<[UInt8]>]
  /// How long after its first attempt an event is dead.
  package let givesUp: Duration
  /// The authorities trusted instead of the system's there, as PEM text; nil for the system's.
  package let certificates: String?

  /// Nil without a URL, and when a problem was recorded.
  init?(_ values: SettingValues<EventTable>, _ reader: inout SettingsReader) {
    guard let url = values.url else { return nil }
    guard !values.secrets.isEmpty else {
      if reader.text(EventTable().secrets.name) == nil { reader.recordMissing(EventTable().secrets.name) }
      return nil
    }
    self.url = url
    signingKeys = values.secrets.map(\.signingKey)
    givesUp = .seconds(3600 * values.givesUp)
    certificates = values.certificates
  }
}

extension SettingParser<Secret<String>> {
  fileprivate static var eventsURL: Self {
    Self { text throws(UnusableValue) in
      let parts = URLComponents(string: text, encodingInvalidCharacters: false)
      let host = parts?.host ?? ""
      let isLocal = ["127.0.0.1", "[::1]", "::1", "localhost"].contains(host)
      guard !host.isEmpty, parts?.fragment == nil,
        parts?.scheme == "https" || parts?.scheme == "http" && isLocal
      else {
        throw UnusableValue("not an address for events", expected: "https://host/path, or http on this machine")
      }
      return Secret(text)
    }
  }
}
