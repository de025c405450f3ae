internal import PushRules

/// The apps of a service: that of the short form `APNS_*`, and those of the sections.
///
/// A section says what is particular about its app and inherits the rest from the short form. The app of tokens that name
/// no app is `APNS_BUNDLE_ID`, which may also have a section; without it, that of the first section.
enum AppList {
  /// The apps, the default one first, and the short form's level of content; nil only when a problem was recorded.
  static func read(_ reader: inout SettingsReader) -> (apps: [AppSettings], content: ContentLevel)? {
    let sections = reader.apps
    let shared = AppFields.read(&reader)
    let bundleID = DefaultAppTable().bundleID
    let named = sections.isEmpty ? bundleID.applied(&reader) : bundleID.reading(&reader).value
    let apps = apps(named: named, sections: sections, sharing: shared, &reader)
    let usable = apps.compactMap(\.self)
    checkKeys(of: usable, sections, &reader)
    if apps.count > APNSSettings.appsMax {
      reader.record(
        .unusable, SettingNames.configFile, "names \(apps.count) apps; expected at most \(APNSSettings.appsMax)")
    }
    guard let first = named ?? sections.first?.bundleIdentifier, usable.count == apps.count else { return nil }
    return (
      usable.filter { $0.bundleIdentifier == first } + usable.filter { $0.bundleIdentifier != first },
      shared.content.value ?? .full
    )
  }

  /// That of the short form, unless it has a section, and those of the sections; nil in the place of an unusable one.
  private static func apps(
    named: BundleIdentifier?, sections: [AppSection], sharing shared: AppFields, _ reader: inout SettingsReader
  ) -> [AppSettings?] {
    var apps: [AppSettings?] = []
    let isInSection = sections.contains { $0.bundleIdentifier == named }
    if sections.isEmpty || (named != nil && !isInSection) { apps.append(shared.app(named, &reader)) }
    for section in sections {
      apps.append(reader.reading(section) { reader in app(section, sharing: shared, &reader) })
    }
    return apps
  }

  private static func app(
    _ section: AppSection, sharing shared: AppFields, _ reader: inout SettingsReader
  ) -> AppSettings? {
    let own = AppFields.read(&reader)
    if own.key.isAbsent, let team = own.team.value, let other = shared.team.value, team != other, !shared.key.isAbsent {
      reader.record(
        .conflicting, AppTable().teamID.name,
        "is another team than that of the key above; expected APNS_KEY_ID and its private key here as well")
    }
    return own.inheriting(shared).app(section.bundleIdentifier, &reader)
  }

  /// One identifier with two keys: APNs would refuse what one of them signs.
  private static func checkKeys(of apps: [AppSettings], _ sections: [AppSection], _ reader: inout SettingsReader) {
    var owners: [[String]: AppSettings] = [:]
    for app in apps {
      let names = [app.key.teamIdentifier, app.key.keyIdentifier]
      let owner = owners[names, default: app]
      owners[names] = owner
      guard owner.key != app.key, let section = sections.first(where: { $0.bundleIdentifier == app.bundleIdentifier })
      else { continue }
      reader.reading(section) { reader in
        reader.record(
          .conflicting, AppTable().keyID.name,
          "is also that of \(owner.bundleIdentifier.text), with another private key")
      }
    }
  }
}

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
  var content: SettingReading<ContentLevel>

  private static let table = AppTable()

  /// What a section says, and for the rest the short form.
  func inheriting(_ other: AppFields) -> AppFields {
    AppFields(
      team: team.inheriting(other.team), key: key.inheriting(other.key),
      environment: environment.inheriting(other.environment), content: content.strictest(other.content))
  }

  /// Reads what the short form says, or the section that is being read.
  static func read(_ reader: inout SettingsReader) -> AppFields {
    let key = key(&reader)
    return AppFields(
      team: table.teamID.reading(&reader), key: key, environment: table.environment.reading(&reader),
      content: table.content.reading(&reader).map(ContentLevel.init))
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
      environment: environment.value ?? .production, content: content.value ?? .full)
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

/// What a settings file says of one app, between `[app com.example.app]` and the next section.
struct AppSection: Equatable {
  let bundleIdentifier: BundleIdentifier
  var values: [String: String] = [:]

  init(_ bundleIdentifier: BundleIdentifier) {
    self.bundleIdentifier = bundleIdentifier
  }

  var header: String { "[app \(bundleIdentifier.text)]" }
}

extension AppSection {
  init(header line: Substring) throws(UnusableValue) {
    let expectation = "[app BUNDLE], such as [app com.example.app]"
    guard line.hasPrefix("["), line.hasSuffix("]") else { throw UnusableValue("no section", expected: expectation) }
    let words = line.dropFirst().dropLast().split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "app", let bundle = try? BundleIdentifier(String(words[1])) else {
      throw UnusableValue("no section", expected: expectation)
    }
    self.init(bundle)
  }
}

extension SettingReading {
  fileprivate func map<Other>(_ change: (Value) -> Other) -> SettingReading<Other> {
    switch self {
    case .absent: .absent
    case .unusable: .unusable
    case .value(let value): .value(change(value))
    }
  }
}

extension SettingReading<ContentLevel> {
  /// The stricter one where both say something.
  fileprivate func strictest(_ other: SettingReading) -> SettingReading {
    guard let own = value, let other = other.value else { return inheriting(other) }
    return .value(own.strictest(other))
  }
}
