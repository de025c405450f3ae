internal import FoundationEssentials

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
