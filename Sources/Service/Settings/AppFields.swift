internal import APNSCore

/// What one place says of an app: the short form `APNS_*`, or a section.
struct AppFields {
  /// The identifier of a key and the key itself. They are useless apart, so they are inherited together.
  struct Key: Equatable {
    let identifier: String
    let text: String
  }

  let team: SettingReading<String>
  let key: SettingReading<Key>
  let environment: SettingReading<APNSEnvironment>

  init(_ reader: inout SettingsReader) {
    key = Self.key(&reader)
    team = reader.reading(.apnsTeamID, APNSCredentials.identifier)
    environment = reader.reading(.apnsEnvironment) { text throws(UnusableValue) in try SettingNumbers.choice(text) }
  }

  private init(
    team: SettingReading<String>, key: SettingReading<Key>, environment: SettingReading<APNSEnvironment>
  ) {
    self.team = team
    self.key = key
    self.environment = environment
  }

  /// What a section says, and for the rest the short form.
  func inheriting(_ other: AppFields) -> AppFields {
    AppFields(
      team: team.inheriting(other.team), key: key.inheriting(other.key),
      environment: environment.inheriting(other.environment))
  }

  /// The app that has all of this; nil only when a problem was noted, of these fields or of the app's own identifier.
  func app(_ bundleIdentifier: BundleIdentifier?, _ reader: inout SettingsReader) -> AppSettings? {
    if key.isAbsent { Self.noteMissingKey(&reader) }
    if team.isAbsent { reader.noteMissing(.apnsTeamID) }
    guard let bundleIdentifier, let team = team.value, let key = key.value else { return nil }
    return AppSettings(
      bundleIdentifier: bundleIdentifier,
      key: SigningKeySettings(
        keyIdentifier: key.identifier, teamIdentifier: team, privateKey: Secret(key.text)),
      environment: environment.value ?? .production)
  }

  private static func key(_ reader: inout SettingsReader) -> SettingReading<Key> {
    let keys: [SettingKey] = [.apnsKeyID, .apnsPrivateKey, .apnsPrivateKeyFile]
    guard keys.contains(where: { reader.text($0) != nil }) else { return .absent }
    let identifier = reader.required(.apnsKeyID, APNSCredentials.identifier)
    guard let text = APNSCredentials.privateKey(&reader), let identifier else { return .unusable }
    return .value(Key(identifier: identifier, text: text))
  }

  private static func noteMissingKey(_ reader: inout SettingsReader) {
    reader.noteMissing(.apnsKeyID)
    APNSCredentials.noteMissingPrivateKey(&reader)
  }
}
