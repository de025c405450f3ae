public import APNSCore

/// How to reach APNs, and as whom.
public struct APNSSettings: Equatable, Sendable {
  /// The identifier of the signing key, ten characters.
  public let keyIdentifier: String
  /// The identifier of the developer team, ten characters.
  public let teamIdentifier: String
  /// The app that pushes go to, unless a device token names another.
  public let bundleIdentifier: BundleIdentifier
  /// The signing key: a P-256 private key as PEM text, checked to be one.
  public let privateKey: Secret<String>
  /// The push service of device tokens that do not say theirs.
  public let environment: APNSEnvironment
  /// The file of certificates trusted besides the system's; nil for none.
  public let certificatesFile: String?
  private let production: ServiceOrigin
  private let sandbox: ServiceOrigin

  /// The server of a push service: Apple's, unless the settings name another.
  public func origin(of environment: APNSEnvironment) -> ServiceOrigin {
    switch environment {
    case .production: production
    case .sandbox: sandbox
    }
  }

  init?(_ reader: inout SettingsReader) {
    let keyIdentifier = reader.required(.apnsKeyID, APNSCredentials.identifier)
    let teamIdentifier = reader.required(.apnsTeamID, APNSCredentials.identifier)
    let bundleIdentifier = reader.required(.apnsBundleID, APNSCredentials.bundleIdentifier)
    let privateKey = APNSCredentials.privateKey(&reader)
    environment =
      reader.optional(.apnsEnvironment) { text throws(UnusableValue) in try SettingNumbers.choice(text) } ?? .production
    certificatesFile = APNSCredentials.certificatesFile(&reader)
    production =
      reader.optional(.apnsURL, ServiceOrigin.init) ?? ServiceOrigin(host: APNSEnvironment.production.hostName)
    sandbox =
      reader.optional(.apnsSandboxURL, ServiceOrigin.init) ?? ServiceOrigin(host: APNSEnvironment.sandbox.hostName)
    guard let keyIdentifier, let teamIdentifier, let bundleIdentifier, let privateKey else { return nil }
    self.keyIdentifier = keyIdentifier
    self.teamIdentifier = teamIdentifier
    self.bundleIdentifier = bundleIdentifier
    self.privateKey = Secret(privateKey)
  }
}
