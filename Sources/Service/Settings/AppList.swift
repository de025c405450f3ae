internal import APNSCore

/// The apps of a service: that of the short form `APNS_*`, and those of the sections.
///
/// A section says what is particular about its app and inherits the rest from the short form. The app of tokens that name
/// none is `APNS_BUNDLE_ID`, which may have a section too; without it, that of the first section.
enum AppList {
  /// The apps, the default one first; nil only when a problem was recorded.
  static func read(_ reader: inout SettingsReader) -> [AppSettings]? {
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
    return usable.filter { $0.bundleIdentifier == first } + usable.filter { $0.bundleIdentifier != first }
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
