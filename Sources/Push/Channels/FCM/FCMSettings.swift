package import PushRules

/// Android is on where the account is set.
package struct FCMSettings: SettingsGroup {
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

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting(account, \.account, .text),
    Setting(accountFile, \.accountFile, .text),
    Setting("FCM_MESSAGES", \.presentation, .choice),
    Setting("FCM_CHANNEL_ID", \.channel, .text),
    Setting("FCM_URL", \.server, .fcmServer),
    Setting(certificates: "FCM_CA_FILE", \.certificates),
  ]
}

extension SettingParser<FCMConfiguration> {
  static var fcmServer: Self {
    Self("not the address of a server", expected: "https://host, or http on this machine") {
      FCMConfiguration(baseURL: $0)
    }
  }
}
