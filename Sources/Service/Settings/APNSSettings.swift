package import PushRules

/// How to reach APNs, and for which apps.
package struct APNSSettings: Equatable, Sendable {
  /// The most apps of one service. Each has two routes with separate figures on every reactor, and those of a team
  /// share their connections.
  package static let appsMax = 100

  /// At least one, each once. The first is the app of device tokens that do not name theirs.
  package private(set) var apps: [AppSettings]
  /// How much of an event's words pushes bring that are to no app of the list.
  package let content: ContentLevel
  /// The file of certificates trusted besides the system's; nil without one.
  package let certificatesFile: String?
  /// The servers, and the text of that file.
  let servers: SettingValues<APNSTable>

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
    let table = AppTable()
    var names = sections(of: now, without: before) + sections(of: before, without: now)
    if defaultApp.bundleIdentifier != old.defaultApp.bundleIdentifier { names.append(DefaultAppTable().bundleID.name) }
    if differs(\.environment) { names.append(table.environment.name) }
    if content != old.content || differs(\.content) { names.append(table.content.name) }
    return names + servers.changes(since: old.servers).map(\.name)
  }

  /// Nil when a problem was recorded.
  init?(_ reader: inout SettingsReader) {
    servers = SettingValues(APNSTable(), &reader)
    certificatesFile = reader.text(APNSTable().certificates.name)
    guard let (apps, content) = AppList.read(&reader) else { return nil }
    self.apps = apps
    self.content = content
  }
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
