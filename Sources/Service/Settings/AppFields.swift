internal import APNSCore

/// What one place says of an app: the short form `APNS_*`, or a section.
struct AppFields {
  /// The identifier of a key and the key itself. They are useless apart, so they are inherited together.
  struct Key: Equatable {
    let identifier: String
    let text: String
  }

  var team: SettingReading<String>
  var key: SettingReading<Key>
  var environment: SettingReading<APNSEnvironment>

  private static let table = AppTable()

  /// What a section says, and for the rest the short form.
  func inheriting(_ other: AppFields) -> AppFields {
    AppFields(
      team: team.inheriting(other.team), key: key.inheriting(other.key),
      environment: environment.inheriting(other.environment))
  }

  /// Reads what the short form says, or the section that is being read.
  static func read(_ reader: inout SettingsReader) -> AppFields {
    let key = key(&reader)
    return AppFields(
      team: table.teamID.reading(&reader), key: key, environment: table.environment.reading(&reader))
  }

  /// The app that has all of this; nil only when a problem was recorded, of these fields or of the app's own identifier.
  func app(_ bundleIdentifier: BundleIdentifier?, _ reader: inout SettingsReader) -> AppSettings? {
    if key.isAbsent {
      reader.recordMissing(Self.table.keyID.name)
      Self.recordMissingPrivateKey(&reader)
    }
    if team.isAbsent { reader.recordMissing(Self.table.teamID.name) }
    guard let bundleIdentifier, let team = team.value, let key = key.value else { return nil }
    return AppSettings(
      bundleIdentifier: bundleIdentifier,
      key: SigningKeySettings(
        keyIdentifier: key.identifier, teamIdentifier: team, privateKey: Secret(key.text)),
      environment: environment.value ?? .production)
  }

  private static func key(_ reader: inout SettingsReader) -> SettingReading<Key> {
    let names = [table.keyID.name, table.privateKey.name, table.privateKeyFile.name]
    guard names.contains(where: { reader.text($0) != nil }) else { return .absent }
    let identifier = table.keyID.applied(&reader)
    guard let text = privateKey(&reader), let identifier else { return .unusable }
    return .value(Key(identifier: identifier, text: text))
  }

  /// The signing key from either of its two settings; nil only when a problem was recorded.
  private static func privateKey(_ reader: inout SettingsReader) -> String? {
    let (name, fileName) = (table.privateKey.name, table.privateKeyFile.name)
    switch (reader.text(name) != nil, reader.text(fileName) != nil) {
    case (false, false): recordMissingPrivateKey(&reader)
    case (true, true): reader.record(.conflicting, name, "and \(fileName) are both set; keep one")
    case (true, false): return table.privateKey.reading(&reader).value ?? nil
    case (false, true):
      guard let text = reader.file(fileName) else { return nil }
      do throws(UnusableValue) {
        return try SettingParser.privateKey(text)
      } catch {
        reader.record(.unusable, fileName, "names a file that is \(error.fault); expected \(error.expectation)")
      }
    }
    return nil
  }

  private static func recordMissingPrivateKey(_ reader: inout SettingsReader) {
    reader.record(
      .missing, table.privateKey.name, "or \(table.privateKeyFile.name) is required and neither is set")
  }
}
