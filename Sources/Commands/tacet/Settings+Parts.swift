import API
import Channels
import HTTP1
import HTTPTransfers
import Logging
import Postgres
import PushPipeline
import PushRules
import PushStore
import Reactors
import Settings

extension PipelineConfiguration {
  init(_ settings: ServeSettings) {
    self.init(policy: settings.suppression)
    folding = settings.folding
    instance = ServiceInstance.current.id
    content = settings.apns.contentPolicy
    shadow = settings.shadow
    // Without notifications a message that has no webhook waits for the next poll.
    if settings.database.poolMode == .transaction { schedule.longest = .milliseconds(250) }
  }
}

extension ServeSettings {
  /// A new sleep for the process; nil where it polls.
  var databaseSleep: DatabaseSleep? {
    guard database.idleMode == .webhook else { return nil }
    return DatabaseSleep(after: database.idleTime, longest: DatabaseSleep.longest(forLife: suppression.timeToLive))
  }
}

extension DatabaseSettings {
  /// The setting because of which the service does not listen for notifications; nil when it does.
  var reasonNotToListen: String? {
    if poolMode == .transaction { return "DATABASE_POOL_MODE is transaction" }
    return idleMode == .webhook ? "IDLE_MODE is webhook" : nil
  }
}

extension APNSSettings {
  /// Where device tokens belong that say nothing.
  var defaultRoute: PushRoute {
    PushRoute(app: defaultApp.bundleIdentifier, environment: defaultApp.environment)
  }

  /// The apps, each with its environment.
  var places: APNSPlaces {
    APNSPlaces(
      defaultRoute: defaultRoute,
      apps: Dictionary(uniqueKeysWithValues: apps.map { ($0.bundleIdentifier, $0.environment) }))
  }

  var contentPolicy: ContentPolicy {
    let stricter = apps.filter { $0.content != content }.map { ($0.bundleIdentifier.text, $0.content) }
    return ContentPolicy(
      service: content, apps: Dictionary(uniqueKeysWithValues: stricter),
      defaultApp: defaultApp.bundleIdentifier.text, channels: KnownChannels.forms)
  }

  var endpoints: [APNSEnvironment: APNSEndpoint] {
    Dictionary(
      uniqueKeysWithValues: APNSEnvironment.allCases.map { environment in
        let origin = origin(of: environment)
        return (environment, APNSEndpoint(host: origin.host, port: origin.port))
      })
  }
}

extension PostgresConfiguration {
  init(_ settings: DatabaseSettings) {
    self.init(conninfo: settings.connectionString.exposed)
    poolMode = settings.poolMode
  }
}

extension HTTPServiceConfiguration {
  /// Descriptors that are not for HTTP connections: the database's and APNs' connections, event loops and files.
  private static let otherDescriptors = 256

  /// Takes no more connections than there are descriptors for, so that the answer to too many is 503 and no failure of
  /// something else.
  mutating func fit(descriptors: Int, logger: Logger) {
    let room = max(1, descriptors - Self.otherDescriptors - connections.reserveMax)
    guard connections.totalMax > room else { return }
    logger.warning(
      "fewer connections than allowed: the limit on descriptors is low",
      metadata: ["descriptors": "\(descriptors)", "connections": "\(room)"])
    connections.totalMax = room
  }
}

extension TLSSettings {
  /// What connections are secured with.
  /// - Throws: `TLSError` when certificate and key do not fit or cannot be read.
  func context() throws(TLSError) -> TLSContext {
    try TLSContext(
      certificate: .text(certificate), key: .text(key.exposed), protocols: ["http/1.1"], requiresProtocol: false,
      releasesIdleBuffers: true)
  }
}

/// How clients prove who they are to this process: the verification of their tokens, and the key set where there is one.
struct ClientAccess: Sendable {
  let verifier: ClientTokenVerifier
  private let keySet: RemoteKeySet?
  private let transfers: ReactorBound<HTTPTransferClient>?

  /// Prepares the verification, and begins to fetch the key set; nil when the settings let no client in.
  /// - Parameters:
  ///   - user: the id of the user whom a token's subject names. reactors: all of the process; the first one fetches.
  init?(
    _ settings: CallerSettings, user: @escaping @Sendable (_ subject: String) -> String?,
    on reactors: [Reactor], logger: Logger
  ) async throws {
    guard settings.acceptsClients else { return nil }
    if let url = settings.keySetURL {
      var configuration = HTTPTransferConfiguration()
      if let certificates = settings.keySetCertificates { configuration.trust = .only(certificates) }
      let transfers = try await reactors[0].perform { [configuration] in
        ReactorBound(HTTPTransferClient(configuration, on: $0), on: $0)
      }
      self.transfers = transfers
      keySet = RemoteKeySet(url: url.exposed, transfers: transfers, logger: logger)
    } else {
      transfers = nil
      keySet = nil
    }
    verifier = try await ClientTokenVerifier(
      TokenRequirements(audiences: settings.audiences, issuer: settings.issuer, user: user),
      secret: settings.jwtSecret?.exposed, keySet: keySet, reactors: reactors)
    keySet?.warmUp()
  }

  /// Whether the key set has ever been had; nil without one. Not to have it is said and makes nothing unready, because
  /// messages are pushed all the same, and another process would not have it either.
  var readiness: ReadinessCheck? {
    keySet.map { ReadinessCheck("jwks", isReady: true, detail: $0.readinessDetail) }
  }

  /// Breaks off a fetch; no more tokens come.
  func close() async {
    await transfers?.perform { $0.close(on: $1) }
  }
}
