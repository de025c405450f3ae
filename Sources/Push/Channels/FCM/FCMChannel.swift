internal import FoundationEssentials
package import PushRules
package import Reactors

/// Android devices, as the settings set them up.
package struct FCMChannel: ConfiguredChannel {
  package static let channel = DeliveryChannel.fcm
  package static let settingPrefixes = ["FCM_"]
  package static let secretFiles = [FCMSettings.accountFile]

  package static let check = (name: "fcm", off: "FCM_SERVICE_ACCOUNT is not set")

  package static let service = "FCM"
  package static let reasons = [
    "UNREGISTERED": "the app is no longer on the Android phone, or has another token",
    "SENDER_ID_MISMATCH": "the token is another Firebase project's",
  ]
  // Of what FCM takes, some is for names that only its messages have.
  package static let form = ChannelForm.open(sealedBytesMax: 1800)

  package let tokens: AccessTokenSource
  package let style: FCMStyle
  package let configuration: FCMConfiguration

  package init?(_ values: FCMSettings, _ reader: inout SettingsReader) {
    let name = values.account == nil ? FCMSettings.accountFile : FCMSettings.account
    guard let text = values.account ?? reader.file(name) else { return nil }
    do throws(ServiceAccountError) {
      tokens = AccessTokenSource(try ServiceAccount(json: Array(text.utf8)))
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

  package var registration: TargetRegistration { .fcm }

  package func makeDeliverer(on reactor: isolated Reactor) -> any PushDeliverer {
    FCMDeliverer(FCMClient(tokens, configuration, on: reactor), style: style)
  }

  /// Asks Google about a token that no device has, so that an answer about it shows that everything else is right.
  package func examine(on reactor: isolated Reactor) async -> ChannelFinding {
    let client = FCMClient(tokens, configuration, on: reactor)
    defer { client.close(on: reactor) }
    let token = "tacet-doctor:" + String(repeating: "0", count: 140)
    let attempt = await client.validate(token, until: Reactor.now &+ 15_000_000_000, on: reactor)
    return Self.finding(attempt, project: tokens.account.projectIdentifier)
  }

  static func finding(_ attempt: DeliveryAttempt, project: String) -> ChannelFinding {
    let reason = attempt.ledgerReason ?? "no reason"
    switch (attempt.fault, attempt.disposition) {
    case (nil, .accepted), (nil, .dropToken), (nil, .suspectToken): return .ok("project \(project) takes messages")
    case (.configuration, _):
      return .failure(
        "project \(project) refuses the service account: \(reason)",
        remedy: "see that the account is of the project, has the role cloudmessaging.messages.create, and that the "
          + "Firebase Cloud Messaging API is on")
    case (.connection, _):
      return .failure(
        "Google cannot be reached: \(reason)",
        remedy: "see whether this host may connect to fcm.googleapis.com and oauth2.googleapis.com, or FCM_URL is right"
      )
    default: return .warning("the answer says nothing about the account: \(reason)")
    }
  }
}

extension TargetRegistration {
  /// FCM forgets a token whose app it has not heard of for 270 days. Source: "Best practices for FCM registration token management".
  private static let tokenMicroseconds: Int64 = 270 * 86_400 * 1_000_000

  /// An Android app tells its registration token or Firebase Installation ID, and the application's id.
  package static let fcm = TargetRegistration(
    .fcm, path: "/v1/fcm/registrations",
    registered: Document("token", "app", "sealing_key") { body in
      let token = try body.decode(String.self, forKey: "token")
      try body.require(
        token.isVisibleASCII(upTo: PushTarget.addressBytesMax), "token",
        "must be 1 to \(PushTarget.addressBytesMax) visible ASCII characters")
      let app = try body.decodeText("app", "must be the id of an application") { (1...255).contains($0.utf8.count) }
      var target = Target(PushTarget(.fcm, address: token, app: app))
      target.sealingKey = try body.decodeSealingKey()
      target.expiresAt = Int64(Date().timeIntervalSince1970 * 1_000_000) + tokenMicroseconds
      return target
    })
}

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
