package import PushRules

/// As much of the settings as can be read, and everything that is wrong with them: for looking at a service that perhaps
/// cannot start.
package struct ExaminedSettings: Sendable {
  package struct SecretFile: Equatable, Sendable {
    /// The name of the setting that names it.
    package let key: String
    package let path: String

    package init(key: String, path: String) {
      self.key = key
      self.path = path
    }
  }

  /// What keeps `tacet serve` from starting; empty when nothing does.
  package let problems: [SettingsProblem]
  /// Nil when it cannot be used.
  package let database: SettingValues<DatabaseSettings>?
  /// Nil when anything of it cannot be used.
  package let apns: APNSSettings?
  /// Nil without browsers, and when anything of it cannot be used.
  package let webPush: WebPushSettings?
  /// Nil without Android, and when anything of it cannot be used.
  package let fcm: FCMSettings?
  /// Nil without events for the host, and when anything of it cannot be used.
  package let events: EventSettings?
  /// Nil when anything of it cannot be used.
  package let callers: SettingValues<CallerSettings>?
  /// Nil when anything of it cannot be used.
  package let campaigns: SettingValues<CampaignSettings>?
  /// The kinds whose pushes are not sent; nil when the rules' settings cannot be used.
  package let shadow: ShadowedKinds?
  /// Variables of the environment that name a proxy, and that nothing here uses.
  package let unusedProxies: [String]
  /// The settings file, and the files with private keys, each once. What is no path of a file is left out by the check of
  /// their permissions: a key may have been pasted where its file should be named.
  package let secretFiles: [SecretFile]

  /// Reads the settings of `tacet serve`, part by part.
  /// - Parameters:
  ///   - environment: the process's environment. readFile: how files are read.
  package init(
    environment: [String: String],
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) {
    do throws(SettingsError) {
      _ = try ServeSettings(environment: environment, readFile: readFile)
      problems = []
    } catch {
      problems = error.problems
    }
    func part<Part>(_ read: (inout SettingsReader) -> Part?) -> Part? {
      var reader = SettingsReader(environment: environment, readFile: readFile)
      let before = reader.problems.count
      let part = read(&reader)
      return reader.problems.count == before ? part : nil
    }
    database = part { SettingValues(DatabaseSettings(), &$0) }
    apns = part { APNSSettings(&$0) }
    webPush = part { WebPushSettings(SettingValues(WebPushTable(), &$0), &$0) }
    fcm = part { FCMSettings(SettingValues(FCMTable(), &$0), &$0) }
    events = part { EventSettings(SettingValues(EventTable(), &$0), &$0) }
    callers = part { SettingValues(CallerSettings(), &$0) }
    campaigns = part { SettingValues(CampaignSettings(), &$0) }
    shadow = part { SettingValues(PolicySettings(), &$0) }?.shadow
    unusedProxies = UnusedProxies.names(in: environment)
    var reader = SettingsReader(environment: environment, readFile: readFile)
    let (configFile, keyFile) = (SettingNames.configFile, AppTable().privateKeyFile.name)
    var files = environment[configFile].map { [SecretFile(key: configFile, path: $0)] } ?? []
    let others = [TLSTable().keyFile.name, WebPushTable().privateKeyFile.name, FCMTable().accountFile.name]
    for key in [keyFile] + others {
      if let path = reader.text(key) { files.append(SecretFile(key: key, path: path)) }
    }
    for section in reader.apps {
      let path = reader.reading(section) { $0.text(keyFile) }
      if let path { files.append(SecretFile(key: keyFile, path: path)) }
    }
    secretFiles = files.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

/// The variables by which other programs learn of a proxy. Pushes, key sets and models are reached directly.
package enum UnusedProxies {
  /// Why they say nothing, for the log and for `tacet doctor`.
  package static let notice =
    "set, and not used: Tacet connects to push services, key sets and language models directly"

  package static func names(in environment: [String: String]) -> [String] {
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].filter { !environment[$0, default: ""].isEmpty }
  }
}
