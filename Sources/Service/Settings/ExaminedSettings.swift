/// As much of the settings as can be read, and everything that is wrong with them: for looking at a service that perhaps
/// cannot start.
public struct ExaminedSettings: Sendable {
  /// A file that holds a secret.
  public struct SecretFile: Equatable, Sendable {
    /// The setting that names it.
    public let key: SettingKey
    /// Where it is.
    public let path: String

    /// Names a file.
    public init(key: SettingKey, path: String) {
      self.key = key
      self.path = path
    }
  }

  /// What keeps `tacet serve` from starting; empty when nothing does.
  public let problems: [SettingsProblem]
  /// Nil when it cannot be used.
  public let database: DatabaseSettings?
  /// Nil when anything of it cannot be used.
  public let apns: APNSSettings?
  /// Nil when anything of it cannot be used.
  public let callers: CallerSettings?
  /// Nil when anything of it cannot be used.
  public let campaigns: CampaignSettings?
  /// The settings file, and the files with private keys, each once. What is no path of a file is left out by whoever
  /// looks: a key may have been pasted where its file should be named.
  public let secretFiles: [SecretFile]

  /// Reads the settings of `tacet serve`, part by part.
  /// - Parameters:
  ///   - environment: the process's environment. readFile: how files are read.
  public init(
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
    database = part { DatabaseSettings(&$0) }
    apns = part { APNSSettings(&$0) }
    callers = part { CallerSettings(&$0) }
    campaigns = part { CampaignSettings(&$0) }
    var reader = SettingsReader(environment: environment, readFile: readFile)
    var files = environment[SettingKey.configFile.rawValue].map { [SecretFile(key: .configFile, path: $0)] } ?? []
    for key in [SettingKey.apnsPrivateKeyFile, .tlsKeyFile] {
      if let path = reader.text(key) { files.append(SecretFile(key: key, path: path)) }
    }
    for section in reader.apps {
      let path = reader.reading(section) { $0.text(.apnsPrivateKeyFile) }
      if let path { files.append(SecretFile(key: .apnsPrivateKeyFile, path: path)) }
    }
    secretFiles = files.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
