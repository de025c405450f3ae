public import APNSCore

/// How to reach APNs, and for which apps.
public struct APNSSettings: Equatable, Sendable {
  /// The most apps of one service. Each has two routes with figures of their own on every reactor, and those of a team
  /// share their connections.
  public static let appsMax = 100

  /// At least one, each once. The first is the app of device tokens that do not name theirs.
  public let apps: [AppSettings]
  /// The file of certificates trusted besides the system's; nil for none.
  public let certificatesFile: String?
  /// What stands in ``certificatesFile``, as PEM text.
  public let certificates: String?
  private let production: ServiceOrigin
  private let sandbox: ServiceOrigin

  /// The app of device tokens that do not name theirs.
  public var defaultApp: AppSettings { apps[0] }

  /// The server of a push service: Apple's, unless the settings name another.
  public func origin(of environment: APNSEnvironment) -> ServiceOrigin {
    switch environment {
    case .production: production
    case .sandbox: sandbox
    }
  }

  /// Whether both reach APNs at the same servers, and trust the same authorities.
  public func reachesLike(_ other: APNSSettings) -> Bool {
    production == other.production && sandbox == other.sandbox && certificates == other.certificates
  }

  init?(_ reader: inout SettingsReader) {
    certificates = reader.certificates(.apnsCAFile)
    certificatesFile = reader.text(.apnsCAFile)
    production =
      reader.optional(.apnsURL, ServiceOrigin.init) ?? ServiceOrigin(host: APNSEnvironment.production.hostName)
    sandbox =
      reader.optional(.apnsSandboxURL, ServiceOrigin.init) ?? ServiceOrigin(host: APNSEnvironment.sandbox.hostName)
    guard let apps = AppList.read(&reader) else { return nil }
    self.apps = apps
  }
}
