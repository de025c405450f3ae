internal import Channels
internal import Glibc
internal import HTTP2
internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors
internal import Settings

/// Asks APNs for the routes of the settings, on separate connections: whether it takes the provider token and the topic of an app.
///
/// Asked by a push to a device token that no device has. The answer `BadDeviceToken` is a success: APNs checks the
/// provider token and the topic first.
final class RouteProbe {
  /// 64 digits, as every device token has, and no device's.
  private static let impossibleToken = String(repeating: "0", count: 64)

  private let settings: APNSSettings
  private let logger: Logger
  private let deadline: UInt64
  private let context: Result<TLSContext, TLSError>
  /// One for each key, with one provider token: APNs counts how often they change.
  private var clients: [SigningKeySettings: APNSClient] = [:]
  /// Why an environment cannot be reached; nil when it can. Asked once for each.
  private var faults: [APNSEnvironment: Judgement?] = [:]

  /// Connects nothing yet.
  /// - Parameter deadline: for all routes together, in monotonic nanoseconds.
  init(_ settings: APNSSettings, until deadline: UInt64, logger: Logger) {
    self.settings = settings
    self.deadline = deadline
    self.logger = logger
    do throws(TLSError) {
      context = .success(try APNSClient.makeContext(certificatesFile: settings.certificatesFile))
    } catch {
      context = .failure(error)
    }
  }

  func ask(_ route: PushRoute, on reactor: isolated Reactor) async -> Judgement {
    let origin = settings.origin(of: route.environment)
    do {
      let context = try self.context.get()
      if let fault = await fault(of: route.environment, context, on: reactor) { return fault }
      let push = try Self.push(to: route)
      let attempt = try await client(of: route, context).send(push, to: route.environment, until: deadline, on: reactor)
      switch attempt {
      case .answered(let answer): return .route(answer.status, answer.reason?.rawValue, at: origin)
      case .refused(let reason): return .route(403, reason.rawValue, at: origin)
      case .withdrawn: return .unreachable("withdrawn", at: origin)
      case .notProcessed where Reactor.now >= deadline, .unknown where Reactor.now >= deadline: return .silent(origin)
      case .notProcessed(let cause), .unknown(let cause): return .unreachable(cause, at: origin)
      }
    } catch let error as TLSError {
      return .unreachable("\(error)", at: origin)
    } catch {
      return .failure("the key cannot sign: \(error)", remedy: "correct APNS_PRIVATE_KEY(_FILE)")
    }
  }

  func close(on reactor: isolated Reactor) {
    for client in clients.values { client.close(on: reactor) }
  }

  /// Nothing is shown and nothing waits for a device: in the background, not to be kept.
  private static func push(to route: PushRoute) throws -> APNSRequest {
    let token = try DeviceToken(impossibleToken)
    return try APNSRequest(
      .background, PushPayload.background([:]).encoded(badge: nil, logID: ""), to: token, of: route.app,
      identifier: PushIdentifier(eventKind: "doctor", event: route.name, recipient: "", deviceToken: token))
  }

  private func client(of route: PushRoute, _ context: TLSContext) throws -> APNSClient {
    guard let key = settings.apps.first(where: { $0.bundleIdentifier == route.app })?.key else {
      preconditionFailure("a route of an app that is not in the settings")
    }
    if let client = clients[key] { return client }
    let credentials = try ProviderCredentials(
      keyIdentifier: key.keyIdentifier, teamIdentifier: key.teamIdentifier, privateKey: key.privateKey.exposed)
    let endpoints = APNSEnvironment.allCases.map {
      ($0, APNSEndpoint(host: settings.origin(of: $0).host, port: settings.origin(of: $0).port))
    }
    let client = APNSClient(
      endpoints: Dictionary(uniqueKeysWithValues: endpoints), context: context,
      tokens: try ProviderTokenSource(credentials), logger: logger)
    clients[key] = client
    return client
  }

  /// The client says only in words why it fails to connect; this connection gives the kind of error.
  private func fault(
    of environment: APNSEnvironment, _ context: TLSContext, on reactor: isolated Reactor
  ) async -> Judgement? {
    if let known = faults[environment] { return known }
    let origin = settings.origin(of: environment)
    let fault: Judgement?
    do {
      let limit = min(Duration.seconds(5), Duration.nanoseconds(deadline - min(deadline, Reactor.now)))
      let connection = try await HTTP2Connection.connect(
        host: origin.host, port: origin.port, context: context, within: limit, on: reactor)
      connection.close(on: reactor)
      fault = nil
    } catch {
      fault = .unconnected(error, to: origin)
    }
    faults[environment] = .some(fault)
    return fault
  }
}

extension ServiceOrigin {
  fileprivate var words: String { "\(host), port \(port)" }
}

// What comes of asking APNs for an app in an environment.
extension Judgement {
  static func route(_ status: Int, _ reason: String?, at origin: ServiceOrigin) -> Judgement {
    let server = origin.words
    switch reason {
    case "BadDeviceToken",
      nil where status == 200:
      return .ok("\(server) takes the provider token and the topic")
    case "InvalidProviderToken":
      return .failure(
        "\(server) refuses the provider token (InvalidProviderToken)",
        remedy:
          "see that APNS_KEY_ID and APNS_TEAM_ID are those of the key, that it is not revoked, and the clock right")
    case "ExpiredProviderToken":
      return .failure(
        "\(server) calls a provider token expired that was just made",
        remedy: "set this machine's clock: it is an hour or more behind")
    case "BadTopic", "TopicDisallowed", "MissingTopic":
      return .failure(
        "\(server) refuses the topic (\(reason ?? ""))",
        remedy: "see that APNS_BUNDLE_ID is an app of the team with push notifications, and the key is for it")
    case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
      return .failure(
        "\(server) refuses the key for this environment (\(reason ?? ""))",
        remedy: "use a key for both environments, or correct APNS_ENVIRONMENT")
    case "TooManyProviderTokenUpdates":
      return .warning(
        "\(server) has seen too many provider tokens of this key lately",
        remedy: "wait twenty minutes before asking again")
    default:
      return .failure(
        "\(server) answers \(status)\(reason.map { " (\($0))" } ?? "")",
        remedy: status >= 500 || status == 429
          ? "wait; pushes go out when APNs takes them again" : "look the reason up in Apple's documentation")
    }
  }

  /// Why there is no connection.
  static func unconnected(_ error: any Error, to origin: ServiceOrigin) -> Judgement {
    switch error {
    case let error as TLSError where error.code == .certificateRefused:
      .failure(
        "the certificate of \(origin.words) is not trusted: \(error.verification ?? error.message)",
        remedy: "name its authority in APNS_CA_FILE, or install the system's authorities (ca-certificates)")
    case let error as TLSError where error.code == .timedOut: .silent(origin)
    case let error as SystemError where error.code == ETIMEDOUT: .silent(origin)
    case let error as SystemError where error.code == ECONNREFUSED:
      .failure("nobody takes connections at \(origin.words)", remedy: "correct APNS_URL or APNS_SANDBOX_URL")
    case is ResolutionError:
      .failure(
        "the name of \(origin.words) has no address",
        remedy: "see whether DNS works here, and whether APNS_URL or APNS_SANDBOX_URL is right")
    default: .unreachable("\(error)", at: origin)
    }
  }

  /// No connection or no answer in time.
  fileprivate static func silent(_ origin: ServiceOrigin) -> Judgement {
    .failure(
      "\(origin.words) does not answer in time",
      remedy: "let the firewall pass TCP to port \(origin.port), or use port 2197 in APNS_URL")
  }

  fileprivate static func unreachable(_ cause: String, at origin: ServiceOrigin) -> Judgement {
    .failure("\(origin.words): \(cause)", remedy: "see whether a proxy or firewall interferes")
  }
}

// Whether there are devices, and whether the service knows their apps.
extension Judgement {
  static func deviceTokens(_ counts: [DeviceTokenCount], _ apns: APNSSettings) -> [Judgement] {
    let byApp = Dictionary(grouping: counts) { apns.app(registered: $0.app) }
    let known = apns.apps.map {
      app($0, byApp[$0.bundleIdentifier.text] ?? []).named("device tokens \($0.bundleIdentifier.text)")
    }
    let names = Set(apns.apps.map(\.bundleIdentifier.text))
    let unknown = byApp.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
    return known + unknown.map { unknownApp($0.key, $0.value) }
  }

  private static func app(_ app: AppSettings, _ counts: [DeviceTokenCount]) -> Judgement {
    guard !counts.isEmpty else {
      return .warning("none is registered", remedy: "have the app register its token: PUT /v1/devices/{token}")
    }
    let named = Dictionary(grouping: counts) { $0.environment.isEmpty ? app.environment.rawValue : $0.environment }
    let words = named.sorted { $0.key < $1.key }.map { "\($0.value.reduce(0) { $0 + $1.tokens }) \($0.key)" }
    return .ok(words.joined(separator: ", "))
  }

  private static func unknownApp(_ app: String, _ counts: [DeviceTokenCount]) -> Judgement {
    // What registers tokens may write anything there.
    let name = String(
      String.UnicodeScalarView(
        app.unicodeScalars.prefix(100).filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f }))
    let tokens = counts.reduce(0) { $0 + $1.tokens }
    return warning(
      "\(tokens) of an app that is not in the settings: nothing is sent to them",
      remedy: "add a section [app \(name)] to the settings file, or remove the tokens"
    ).named("device tokens \(name)")
  }

  /// Whether devices have keys, where the settings seal content: one without a key gets no words. Nothing where no setting seals.
  static func sealingKeys(_ keys: Int, _ counts: [DeviceTokenCount], _ apns: APNSSettings?) -> [Judgement] {
    guard let apns, ([apns.content] + apns.apps.map(\.content)).contains(where: \.isSealed) else { return [] }
    let tokens = counts.reduce(0) { $0 + $1.tokens }
    guard keys == 0 else { return [.ok("\(keys) devices have one; there are \(tokens) device tokens")] }
    return [
      .warning(
        "CONTENT is sealed, and no device has registered a key: pushes show no words",
        remedy: "have the app register sealing_key: deploy/API.md, Private content")
    ]
  }
}

extension APNSSettings {
  /// The app of a registration, which is the default one where the name is empty.
  fileprivate func app(registered name: String) -> String { name.isEmpty ? defaultApp.bundleIdentifier.text : name }

  /// The routes that pushes take: each app's own, and the other environment where it has tokens.
  func routes(of counts: [DeviceTokenCount]) -> [PushRoute] {
    apps.flatMap { app in
      APNSEnvironment.allCases.filter { environment in
        environment == app.environment
          || counts.contains {
            self.app(registered: $0.app) == app.bundleIdentifier.text && $0.environment == environment.rawValue
          }
      }.map { PushRoute(app: app.bundleIdentifier, environment: $0) }
    }
  }
}
