package import PushRules

/// How to reach APNs, and for which apps.
package struct APNSSettings: Equatable, Sendable {
  /// The most apps of one service. Each has two routes with separate figures, and those of a team
  /// share their connections.
  package static let appsMax = 100

  /// At least one, each once. The first is the app of device tokens that do not name theirs.
  package private(set) var apps: [AppSettings]
  /// How much of an event's words pushes bring that are to no app of the list.
  package let content: ContentLevel
  /// The file of certificates trusted besides the system's; nil without one.
  package let certificatesFile: String?
  /// The servers, and the text of that file.
  let servers: APNSServers

  /// The app of device tokens that do not name theirs.
  package var defaultApp: AppSettings { apps[0] }

  /// The server that takes pushes: Apple's, unless the settings name another.
  package func origin(of environment: APNSEnvironment) -> ServiceOrigin {
    switch environment {
    case .production: servers.production
    case .sandbox: servers.sandbox
    }
  }

  /// The same apps and servers, each app with the key that other settings give it.
  package func signing(like other: APNSSettings) -> APNSSettings {
    var settings = self
    for index in apps.indices {
      let renewed = other.apps.first { $0.bundleIdentifier == apps[index].bundleIdentifier }
      if let renewed { settings.apps[index].key = renewed.key }
    }
    return settings
  }

  /// Names of settings and sections that say something else than before, apart from keys.
  func changes(since old: APNSSettings) -> [String] {
    let (before, now) = (old.apps, apps)
    func sections(of apps: [AppSettings], without others: [AppSettings]) -> [String] {
      apps.filter { app in !others.contains { $0.bundleIdentifier == app.bundleIdentifier } }
        .map { AppSection($0.bundleIdentifier).header }
    }
    func differs<Value: Equatable>(_ value: KeyPath<AppSettings, Value>) -> Bool {
      now.contains { app in
        before.first { $0.bundleIdentifier == app.bundleIdentifier }.map { $0[keyPath: value] != app[keyPath: value] }
          ?? false
      }
    }
    var names = sections(of: now, without: before) + sections(of: before, without: now)
    if defaultApp.bundleIdentifier != old.defaultApp.bundleIdentifier { names.append(AppFields.bundleID.text) }
    if differs(\.environment) { names.append(AppFields.environment.text) }
    if content != old.content || differs(\.content) { names.append(AppFields.content.text) }
    return names + servers.changes(since: old.servers)
  }

  /// Nil when a problem was recorded.
  init?(_ reader: inout SettingsReader) {
    servers = APNSServers(&reader)
    certificatesFile = reader.text(APNSServers.certificatesFile)
    guard let (apps, content) = AppList.read(&reader) else { return nil }
    self.apps = apps
    self.content = content
  }
}

struct APNSServers: SettingsGroup {
  var production = ServiceOrigin(host: APNSEnvironment.production.hostName)
  var sandbox = ServiceOrigin(host: APNSEnvironment.sandbox.hostName)
  /// Certificates trusted besides the system's, as PEM text.
  var certificates: String?

  static let certificatesFile: SettingName = "APNS_CA_FILE"

  static let table: [Setting<Self>] = [
    Setting(.secret("APNS_URL"), \.production, .origin), Setting(.secret("APNS_SANDBOX_URL"), \.sandbox, .origin),
    Setting(certificates: certificatesFile, \.certificates),
  ]
}

package struct AppSettings: Equatable, Sendable {
  package let bundleIdentifier: BundleIdentifier
  package fileprivate(set) var key: SigningKeySettings
  /// The push service of its device tokens that do not name theirs.
  package let environment: APNSEnvironment
  package let content: ContentLevel
}

/// A key that signs provider tokens. Apps of one team may share it.
package struct SigningKeySettings: Hashable, Sendable {
  /// The identifier of the key, ten characters.
  package let keyIdentifier: String
  /// The identifier of the developer team, ten characters.
  package let teamIdentifier: String
  /// A P-256 private key as PEM text, checked to be one, and written in one way only: two texts of the same key are
  /// equal.
  package let privateKey: Secret<String>
}

/// The apps of a service: that of the short form `APNS_*`, and those of the sections.
///
/// A section says what is particular about its app and inherits the rest from the short form. The app of tokens that name
/// no app is `APNS_BUNDLE_ID`, which may also have a section; without it, that of the first section.
enum AppList {
  /// The apps, the default one first, and the short form's level of content; nil only when a problem was recorded.
  static func read(_ reader: inout SettingsReader) -> (apps: [AppSettings], content: ContentLevel)? {
    let sections = reader.apps
    let shared = AppFields.read(&reader)
    let named = reader.reading(AppFields.bundleID, .bundleIdentifier)
    if sections.isEmpty, named.isAbsent { reader.recordMissing(AppFields.bundleID) }
    let apps = apps(named: named.value, sections: sections, sharing: shared, &reader)
    let usable = apps.compactMap(\.self)
    checkKeys(of: usable, sections, &reader)
    if apps.count > APNSSettings.appsMax {
      reader.record(
        .unusable, SettingNames.configFile, "names \(apps.count) apps; expected at most \(APNSSettings.appsMax)")
    }
    guard let first = named.value ?? sections.first?.bundleIdentifier, usable.count == apps.count else { return nil }
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
        .conflicting, AppFields.teamID,
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
          .conflicting, AppFields.keyID,
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

  var key: SettingReading<Key>
  var team: SettingReading<String>
  var environment: SettingReading<APNSEnvironment>
  var content: SettingReading<ContentLevel>

  /// Settings that an app can have for itself, in a section of the settings file. Of the two of the private key, one is set.
  static let names = [keyID, teamID, privateKey, privateKeyFile, environment, content]
  static let (keyID, teamID): (SettingName, SettingName) = ("APNS_KEY_ID", "APNS_TEAM_ID")
  static let privateKey = SettingName.secret("APNS_PRIVATE_KEY")
  static let privateKeyFile = SettingName.secret("APNS_PRIVATE_KEY_FILE")
  /// The push service of the app's device tokens that do not name theirs.
  static let environment: SettingName = "APNS_ENVIRONMENT"
  /// How much of an event's words pushes to the app bring. An app can only be stricter than the service.
  static let content: SettingName = "CONTENT"
  /// The app of device tokens that do not name theirs; in no section.
  static let bundleID: SettingName = "APNS_BUNDLE_ID"

  /// What a section says, and for the rest the short form.
  func inheriting(_ other: AppFields) -> AppFields {
    AppFields(
      key: key.inheriting(other.key), team: team.inheriting(other.team),
      environment: environment.inheriting(other.environment), content: content.strictest(other.content))
  }

  /// Reads what the short form says, or the section that is being read.
  static func read(_ reader: inout SettingsReader) -> AppFields {
    AppFields(
      key: key(&reader), team: reader.reading(teamID, .appleIdentifier),
      environment: reader.reading(environment, .choice),
      content: reader.reading(content, SettingParser<ContentChoice>.choice.map(ContentLevel.init)))
  }

  /// The app that has all of this; nil only when a problem was recorded, of these fields or of the app's own identifier.
  func app(_ bundleIdentifier: BundleIdentifier?, _ reader: inout SettingsReader) -> AppSettings? {
    if key.isAbsent {
      reader.recordMissing(Self.keyID)
      Self.recordMissingPrivateKey(&reader)
    }
    if team.isAbsent { reader.recordMissing(Self.teamID) }
    guard let bundleIdentifier, let team = team.value, let key = key.value else { return nil }
    return AppSettings(
      bundleIdentifier: bundleIdentifier,
      key: SigningKeySettings(
        keyIdentifier: key.identifier, teamIdentifier: team, privateKey: Secret(key.text)),
      environment: environment.value ?? .production, content: content.value ?? .full)
  }

  private static func key(_ reader: inout SettingsReader) -> SettingReading<Key> {
    guard [keyID, privateKey, privateKeyFile].contains(where: { reader.text($0) != nil }) else { return .absent }
    let identifier = reader.reading(keyID, .appleIdentifier)
    if identifier.isAbsent { reader.recordMissing(keyID) }
    guard let text = privateKeyText(&reader), let identifier = identifier.value else { return .unusable }
    return .value(Key(identifier: identifier, text: text))
  }

  /// The signing key from either of its two settings; nil only when a problem was recorded.
  private static func privateKeyText(_ reader: inout SettingsReader) -> String? {
    switch (reader.text(privateKey) != nil, reader.text(privateKeyFile) != nil) {
    case (false, false): recordMissingPrivateKey(&reader)
    case (true, true):
      reader.record(.conflicting, privateKey, "and \(privateKeyFile.text) are both set; keep one")
    case (true, false): return reader.reading(privateKey, .privateKey).value
    case (false, true):
      guard let text = reader.file(privateKeyFile) else { return nil }
      do throws(UnusableValue) {
        return try SettingParser.privateKey(text)
      } catch {
        reader.record(.unusable, privateKeyFile, "names a file that is \(error.fault); expected \(error.expectation)")
      }
    }
    return nil
  }

  private static func recordMissingPrivateKey(_ reader: inout SettingsReader) {
    reader.record(.missing, privateKey, "or \(privateKeyFile.text) is required and neither is set")
  }
}

extension SettingReading<ContentLevel> {
  /// The stricter one where both say something.
  fileprivate func strictest(_ other: SettingReading) -> SettingReading {
    guard let own = value, let other = other.value else { return inheriting(other) }
    return .value(own.strictest(other))
  }
}
