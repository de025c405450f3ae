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
