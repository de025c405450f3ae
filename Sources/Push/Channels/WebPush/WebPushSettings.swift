package import PushRules

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
