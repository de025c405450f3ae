package import PushRules

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
