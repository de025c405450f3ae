package import Channels

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
