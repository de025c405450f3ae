/// How database webhooks are received.
public struct WebhookSettings: Equatable, Sendable {
  /// Any of these lets a webhook in; at least one.
  public let secrets: [WebhookSecret]
  /// How long an answer waits for the outcome, from 0 to a minute.
  public let wait: Duration

  init?(_ reader: inout SettingsReader) {
    let secrets = reader.required(.webhookSecret, WebhookSecret.list)
    let wait = reader.optional(.webhookWaitMilliseconds) { text throws(UnusableValue) in
      try SettingNumbers.integer(text, in: 0...60_000)
    }
    guard let secrets else { return nil }
    self.secrets = secrets
    // An outcome takes milliseconds unless APNs is slow, and then the database's caller should not be kept.
    self.wait = .milliseconds(wait ?? 1_000)
  }
}
