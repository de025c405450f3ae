package import Channels

// Browsers, Android and events for the host: each is on where its key, account or address is set.

struct WebPushValues: SettingsGroup {
  /// One of these two switches it on.
  var privateKey: String?
  var privateKeyFile: String?
  var subject: VAPIDSubject?
  var links: WebPushLinks?
  var hosts = WebPushHosts.standard
  var certificates: String?

  static let privateKeyFile = SettingName.secret("VAPID_PRIVATE_KEY_FILE")
  static let (subject, links): (SettingName, SettingName) = ("VAPID_SUBJECT", "WEB_PUSH_URL")

  static let table: [Setting<Self>] = [
    Setting(.secret("VAPID_PRIVATE_KEY"), \.privateKey, .vapidKey),
    Setting(privateKeyFile, \.privateKeyFile, .text),
    Setting(subject, \.subject, .vapidSubject),
    Setting(links, \.links, .webPushLinks),
    Setting("WEB_PUSH_HOSTS", \.hosts, .webPushHosts),
    Setting(certificates: "WEB_PUSH_CA_FILE", \.certificates),
  ]
}

package struct WebPushSettings: Sendable {
  /// The P-256 key as PEM text, checked to be one.
  package let privateKey: Secret<String>
  /// Whom push services may ask about the sender.
  package let subject: VAPIDSubject
  /// Where a click leads.
  package let links: WebPushLinks
  /// The push services that browsers may name.
  package let hosts: WebPushHosts
  /// The authorities trusted instead of the system's there, as PEM text; nil for the system's.
  package let certificates: String?

  /// Nil without a key, and when a problem was recorded.
  init?(_ values: WebPushValues, _ reader: inout SettingsReader) {
    let fileName = WebPushValues.privateKeyFile
    var key = values.privateKey
    if key == nil, let text = reader.file(fileName) {
      key = try? SettingParser<String>.vapidKey(text)
      if key == nil { reader.record(.unusable, fileName, "names a file without a P-256 private key") }
    }
    guard let key else { return nil }
    for name in [WebPushValues.subject, WebPushValues.links] where reader.text(name) == nil {
      reader.recordMissing(name)
    }
    guard let subject = values.subject, let links = values.links else { return nil }
    privateKey = Secret(key)
    self.subject = subject
    self.links = links
    hosts = values.hosts
    certificates = values.certificates
  }
}

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

struct FCMValues: SettingsGroup {
  /// Who shows a message.
  enum Presentation: String, CaseIterable, Sendable {
    /// Android, while the app is in the background.
    case notification
    /// The app, which gets data alone.
    case data
  }

  /// One of these two switches it on.
  var account: String?
  var accountFile: String?
  var presentation = Presentation.notification
  /// The app's notification channel; nil for the one of its manifest.
  var channel: String?
  /// Google's server, unless a test names another.
  var server = FCMConfiguration()
  /// The authorities trusted instead of the system's there.
  var certificates: String?

  static let account = SettingName.secret("FCM_SERVICE_ACCOUNT")
  static let accountFile = SettingName.secret("FCM_SERVICE_ACCOUNT_FILE")

  static let table: [Setting<Self>] = [
    Setting(account, \.account, .text),
    Setting(accountFile, \.accountFile, .text),
    Setting("FCM_MESSAGES", \.presentation, .choice),
    Setting("FCM_CHANNEL_ID", \.channel, .text),
    Setting("FCM_URL", \.server, .fcmServer),
    Setting(certificates: "FCM_CA_FILE", \.certificates),
  ]
}

/// How to push to Android devices.
package struct FCMSettings: Sendable {
  package let account: ServiceAccount
  package let style: FCMStyle
  package let configuration: FCMConfiguration

  /// Nil without an account, and when a problem was recorded.
  init?(_ values: FCMValues, _ reader: inout SettingsReader) {
    let name = values.account == nil ? FCMValues.accountFile : FCMValues.account
    guard let text = values.account ?? reader.file(name) else { return nil }
    do throws(ServiceAccountError) {
      account = try ServiceAccount(json: Array(text.utf8))
    } catch {
      reader.record(.unusable, name, "is not usable: \(error); expected the JSON file of a Google service account")
      return nil
    }
    var style = FCMStyle()
    style.presentation = values.presentation == .data ? .dataOnly : .notification
    style.channelIdentifier = values.channel
    self.style = style
    configuration = values.certificates.map(values.server.trusting) ?? values.server
  }
}

extension SettingParser<FCMConfiguration> {
  static var fcmServer: Self {
    Self("not the address of a server", expected: "https://host, or http on this machine") {
      FCMConfiguration(baseURL: $0)
    }
  }
}

struct EventValues: SettingsGroup {
  /// The host's webhook; secret, as it may hold a token. Without it no events are sent.
  var url: Secret<String>?
  var secrets: [WebhookSecret] = []
  var givesUpHours = 72
  var certificates: String?

  static let secrets = SettingName.secret("EVENTS_SECRET")

  static let table: [Setting<Self>] = [
    Setting(.secret("EVENTS_URL"), \.url, .eventsURL),
    Setting(secrets, \.secrets, .webhookSecrets),
    Setting("EVENTS_RETRY_HOURS", \.givesUpHours, .integer(in: 1...720)),
    Setting(certificates: "EVENTS_CA_FILE", \.certificates),
  ]
}

/// Where events go that the host gets.
package struct EventSettings: Sendable {
  /// The host's webhook: `https`, or `http` on this machine.
  package let url: Secret<String>
  /// What each event is signed with; at least one, and several while one replaces another.
  package let signingKeys: [Secret<[UInt8]>]
  /// How long after its first attempt an event is dead.
  package let givesUp: Duration
  /// The authorities trusted instead of the system's there, as PEM text; nil for the system's.
  package let certificates: String?

  /// Nil without a URL, and when a problem was recorded.
  init?(_ values: EventValues, _ reader: inout SettingsReader) {
    guard let url = values.url else { return nil }
    guard !values.secrets.isEmpty else {
      if reader.text(EventValues.secrets) == nil { reader.recordMissing(EventValues.secrets) }
      return nil
    }
    self.url = url
    signingKeys = values.secrets.map(\.signingKey)
    givesUp = .seconds(3600 * values.givesUpHours)
    certificates = values.certificates
  }
}
