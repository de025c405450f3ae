internal import Channels
internal import Cryptography
internal import PushRules
internal import Reactors
internal import Settings

/// What browsers subscribe with.
enum BrowserCheck {
  static let name = "browsers"
  static let notUsed = CheckFinding(name, .skipped, "VAPID_PRIVATE_KEY is not set")

  static func judge(_ settings: WebPushSettings) -> CheckFinding {
    guard let key = try? P256PrivateKey(pem: settings.privateKey.exposed) else {
      return CheckFinding(name, .failure, "the key cannot be used", remedy: "make another VAPID_PRIVATE_KEY")
    }
    let text = Base64URL.encode(key.publicKey.x963)
    let services = settings.hosts.routeNames.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    return CheckFinding(
      name, .ok,
      "they subscribe with \(text.prefix(12))..., at \(services.joined(separator: ", ")); clicks open \(settings.links.origin)"
    )
  }
}

/// Whether Google takes the service account's messages.
enum AndroidCheck {
  static let name = "fcm"
  static let notUsed = CheckFinding(name, .skipped, "FCM_SERVICE_ACCOUNT is not set")

  /// No device has it, so that an answer about it shows that everything else is right.
  private static let token = "tacet-doctor:" + String(repeating: "0", count: 140)

  /// As long as APNs has.
  private static let limit: UInt64 = 15_000_000_000

  static func look(_ settings: FCMSettings, on reactor: isolated Reactor) async -> CheckFinding {
    let client = FCMClient(AccessTokenSource(settings.account), settings.configuration, on: reactor)
    defer { client.close(on: reactor) }
    let attempt = await client.validate(token, until: Reactor.now &+ limit, on: reactor)
    return judge(attempt, project: settings.account.projectIdentifier)
  }

  static func judge(_ attempt: DeliveryAttempt, project: String) -> CheckFinding {
    let reason = attempt.ledgerReason ?? "no reason"
    switch (attempt.fault, attempt.disposition) {
    case (nil, .accepted), (nil, .dropToken), (nil, .suspectToken):
      return CheckFinding(name, .ok, "project \(project) takes messages")
    case (.configuration, _):
      return CheckFinding(
        name, .failure, "project \(project) refuses the service account: \(reason)",
        remedy: "see that the account is of the project, has the role cloudmessaging.messages.create, and that the "
          + "Firebase Cloud Messaging API is on")
    case (.connection, _):
      return CheckFinding(
        name, .failure, "Google cannot be reached: \(reason)",
        remedy: "see whether this host may connect to fcm.googleapis.com and oauth2.googleapis.com, or FCM_URL is right"
      )
    default: return CheckFinding(name, .warning, "the answer says nothing about the account: \(reason)")
    }
  }
}
