internal import Channels
internal import Glibc
internal import HTTP2
internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors
internal import Settings

/// What came of asking APNs for an app in an environment.
enum RouteAnswer: Equatable, Sendable {
  /// The server answered the push, with this reason; nil when it took it.
  case answered(status: Int, reason: String?)
  /// The key cannot sign.
  case unsigned(String)
  /// The server's certificate is not trusted, in OpenSSL's words.
  case untrusted(String)
  /// The server refuses connections.
  case refused
  case unresolved
  /// No connection or no answer in time.
  case timedOut
  /// Anything else, in the words of the error.
  case failed(String)
}

/// Whether APNs takes the provider token and the topic of an app.
///
/// Asked by a push to a device token that no device has. The answer `BadDeviceToken` is a success: APNs checks the
/// provider token and the topic first.
enum RouteCheck {
  static func judge(_ answer: RouteAnswer, of route: PushRoute, at origin: ServiceOrigin) -> CheckFinding {
    let name = "apns \(route.name)"
    let server = "\(origin.host), port \(origin.port)"
    switch answer {
    case .answered(let status, let reason): return judge(status, reason, name, server)
    case .unsigned(let words):
      return CheckFinding(name, .failure, "the key cannot sign: \(words)", remedy: "correct APNS_PRIVATE_KEY(_FILE)")
    case .untrusted(let words):
      return CheckFinding(
        name, .failure, "the certificate of \(server) is not trusted: \(words)",
        remedy: "name its authority in APNS_CA_FILE, or install the system's authorities (ca-certificates)")
    case .refused:
      return CheckFinding(
        name, .failure, "nobody takes connections at \(server)", remedy: "correct APNS_URL or APNS_SANDBOX_URL")
    case .unresolved:
      return CheckFinding(
        name, .failure, "the name of \(server) has no address",
        remedy: "see whether DNS works here, and whether APNS_URL or APNS_SANDBOX_URL is right")
    case .timedOut:
      return CheckFinding(
        name, .failure, "\(server) does not answer in time",
        remedy: "let the firewall pass TCP to port \(origin.port), or use port 2197 in APNS_URL")
    case .failed(let words):
      return CheckFinding(name, .failure, "\(server): \(words)", remedy: "see whether a proxy or firewall interferes")
    }
  }

  private static func judge(_ status: Int, _ reason: String?, _ name: String, _ server: String) -> CheckFinding {
    switch reason {
    case "BadDeviceToken",
      nil where status == 200:
      return CheckFinding(name, .ok, "\(server) takes the provider token and the topic")
    case "InvalidProviderToken":
      return CheckFinding(
        name, .failure, "\(server) refuses the provider token (InvalidProviderToken)",
        remedy:
          "see that APNS_KEY_ID and APNS_TEAM_ID are those of the key, that it is not revoked, and the clock right")
    case "ExpiredProviderToken":
      return CheckFinding(
        name, .failure, "\(server) calls a provider token expired that was just made",
        remedy: "set this machine's clock: it is an hour or more behind")
    case "BadTopic", "TopicDisallowed", "MissingTopic":
      return CheckFinding(
        name, .failure, "\(server) refuses the topic (\(reason ?? ""))",
        remedy: "see that APNS_BUNDLE_ID is an app of the team with push notifications, and the key is for it")
    case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
      return CheckFinding(
        name, .failure, "\(server) refuses the key for this environment (\(reason ?? ""))",
        remedy: "use a key for both environments, or correct APNS_ENVIRONMENT")
    case "TooManyProviderTokenUpdates":
      return CheckFinding(
        name, .warning, "\(server) has seen too many provider tokens of this key lately",
        remedy: "wait twenty minutes before asking again")
    default:
      let words = reason.map { " (\($0))" } ?? ""
      return CheckFinding(
        name, .failure, "\(server) answers \(status)\(words)",
        remedy: status >= 500 || status == 429
          ? "wait; pushes go out when APNs takes them again" : "look the reason up in Apple's documentation")
    }
  }
}

/// Asks APNs for the routes of the settings, on separate connections.
final class RouteProbe {
  /// 64 digits, as every device token has, and no device's.
  private static let impossibleToken = String(repeating: "0", count: 64)

  private let settings: APNSSettings
  private let logger: Logger
  private let deadline: UInt64
  private let context: Result<TLSContext, TLSError>
  private var clients: [SigningKeySettings: APNSClient] = [:]
  /// One for each key: APNs counts how often they change.
  private var tokens: [SigningKeySettings: ProviderTokenSource] = [:]
  /// Why an environment cannot be reached; nil when it can. Asked once for each.
  private var faults: [APNSEnvironment: RouteAnswer?] = [:]

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

  func ask(_ route: PushRoute, on reactor: isolated Reactor) async -> RouteAnswer {
    do {
      let context = try self.context.get()
      if let fault = await fault(of: route.environment, context, on: reactor) { return fault }
      let client = try client(for: key(of: route), context)
      return answer(
        to: await client.send(try Self.push(to: route), to: route.environment, until: deadline, on: reactor))
    } catch let error as TLSError {
      return .failed("\(error)")
    } catch {
      return .unsigned("\(error)")
    }
  }

  func close(on reactor: isolated Reactor) {
    for client in clients.values { client.close(on: reactor) }
  }

  private func key(of route: PushRoute) -> SigningKeySettings {
    guard let app = settings.apps.first(where: { $0.bundleIdentifier == route.app }) else {
      preconditionFailure("a route of an app that is not in the settings")
    }
    return app.key
  }

  /// Nothing is shown and nothing waits for a device: in the background, not to be kept.
  private static func push(to route: PushRoute) throws -> PushRequest {
    let token = try DeviceToken(impossibleToken)
    return try PushRequest(
      try BackgroundPayload(), to: token, of: route.app,
      identifier: PushIdentifier(eventKind: "doctor", event: route.name, recipient: "", deviceToken: token))
  }

  private func client(for key: SigningKeySettings, _ context: TLSContext) throws -> APNSClient {
    if let client = clients[key] { return client }
    let client = APNSClient(
      endpoints: endpoints, context: context, tokens: try tokens(for: key),
      logger: logger)
    clients[key] = client
    return client
  }

  private func tokens(for key: SigningKeySettings) throws -> ProviderTokenSource {
    if let source = tokens[key] { return source }
    let source = try ProviderTokenSource(
      ProviderCredentials(
        keyIdentifier: key.keyIdentifier, teamIdentifier: key.teamIdentifier, privateKey: key.privateKey.exposed))
    tokens[key] = source
    return source
  }

  private var endpoints: [APNSEnvironment: APNSEndpoint] {
    Dictionary(
      uniqueKeysWithValues: APNSEnvironment.allCases.map {
        ($0, APNSEndpoint(host: settings.origin(of: $0).host, port: settings.origin(of: $0).port))
      })
  }

  /// The client says only in words why it fails to connect; this connection gives the kind of error.
  private func fault(
    of environment: APNSEnvironment, _ context: TLSContext, on reactor: isolated Reactor
  ) async -> RouteAnswer? {
    if let known = faults[environment] { return known }
    let origin = settings.origin(of: environment)
    let fault: RouteAnswer?
    do {
      let limit = min(Duration.seconds(5), Duration.nanoseconds(deadline - min(deadline, Reactor.now)))
      let connection = try await HTTP2Connection.connect(
        host: origin.host, port: origin.port, context: context, within: limit, on: reactor)
      connection.close(on: reactor)
      fault = nil
    } catch {
      fault = Self.answer(for: error)
    }
    faults[environment] = .some(fault)
    return fault
  }

  static func answer(for error: any Error) -> RouteAnswer {
    switch error {
    case let error as TLSError:
      switch error.code {
      case .certificateRefused: .untrusted(error.verification ?? error.message)
      case .timedOut: .timedOut
      default: .failed("\(error)")
      }
    case let error as SystemError where error.code == ECONNREFUSED: .refused
    case let error as SystemError where error.code == ETIMEDOUT: .timedOut
    case is ResolutionError: .unresolved
    default: .failed("\(error)")
    }
  }

  private func answer(to attempt: PushAttempt) -> RouteAnswer {
    switch attempt {
    case .answered(let answer): .answered(status: answer.status, reason: answer.reason?.rawValue)
    case .refused(let reason): .answered(status: 403, reason: reason.rawValue)
    case .withdrawn: .failed("withdrawn")
    case .failed where Reactor.now >= deadline: .timedOut
    case .failed(.notProcessed(let cause)), .failed(.unknown(let cause)): .failed(cause)
    }
  }
}

/// Whether there are device tokens, and whether the service knows their apps.
enum DeviceTokenCheck {
  static let name = "device tokens"

  /// Of a host with its own tables, before the first pushes.
  static let nobodyKnown = CheckFinding(
    name, .skipped, "tacet.device_tokens returns none for the last recipients of tacet.push_log, if there are any")

  static func judge(_ counts: [DeviceTokenCount], apns: APNSSettings) -> [CheckFinding] {
    let byApp = Dictionary(grouping: counts) { apns.app(registered: $0.app) }
    let known = apns.apps.flatMap { judge($0, byApp[$0.bundleIdentifier.text] ?? []) }
    let names = Set(apns.apps.map(\.bundleIdentifier.text))
    let unknown = byApp.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
    return known + unknown.map { judge(unknown: $0.key, $0.value) }
  }

  private static func judge(_ app: AppSettings, _ counts: [DeviceTokenCount]) -> [CheckFinding] {
    let name = "\(name) \(app.bundleIdentifier.text)"
    guard !counts.isEmpty else {
      return [
        CheckFinding(
          name, .warning, "none is registered", remedy: "have the app register its token: PUT /v1/devices/{token}")
      ]
    }
    let named = Dictionary(grouping: counts) { $0.environment.isEmpty ? app.environment.rawValue : $0.environment }
    let words = named.map { (environment: $0.key, tokens: $0.value.reduce(0) { $0 + $1.tokens }) }
      .sorted { $0.environment < $1.environment }.map { "\($0.tokens) \($0.environment)" }
    return [CheckFinding(name, .ok, words.joined(separator: ", "))]
  }

  private static func judge(unknown app: String, _ counts: [DeviceTokenCount]) -> CheckFinding {
    let tokens = counts.reduce(0) { $0 + $1.tokens }
    return CheckFinding(
      "\(name) \(printable(app))", .warning, "\(tokens) of an app that is not in the settings: nothing is sent to them",
      remedy: "add a section [app \(printable(app))] to the settings file, or remove the tokens")
  }

  /// What registers tokens may write anything there.
  private static func printable(_ app: String) -> String {
    String(
      String.UnicodeScalarView(
        app.unicodeScalars.prefix(100).filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f }))
  }

  /// The routes that pushes take: each app's own, and the other environment where it has tokens.
  static func routes(_ counts: [DeviceTokenCount], apns: APNSSettings) -> [PushRoute] {
    apns.apps.flatMap { app in
      APNSEnvironment.allCases.filter { environment in
        environment == app.environment
          || counts.contains {
            apns.app(registered: $0.app) == app.bundleIdentifier.text && $0.environment == environment.rawValue
          }
      }.map { PushRoute(app: app.bundleIdentifier, environment: $0) }
    }
  }
}

extension APNSSettings {
  /// The app of a registration, which is the default one where the name is empty.
  func app(registered name: String) -> String { name.isEmpty ? defaultApp.bundleIdentifier.text : name }
}

/// Whether devices have keys, where the settings seal content: one without a key gets no words.
enum SealingKeyCheck {
  static let name = "sealing keys"

  /// Nothing where no setting seals.
  static func judge(_ keys: Int, _ counts: [DeviceTokenCount], apns: APNSSettings?) -> [CheckFinding] {
    guard let apns, ([apns.content] + apns.apps.map(\.content)).contains(where: \.isSealed) else { return [] }
    let tokens = counts.reduce(0) { $0 + $1.tokens }
    let found = "\(keys) devices have one; there are \(tokens) device tokens"
    guard keys == 0 else { return [CheckFinding(name, .ok, found)] }
    return [
      CheckFinding(
        name, .warning, "CONTENT is sealed, and no device has registered a key: pushes show no words",
        remedy: "have the app register sealing_key: deploy/API.md, Private content")
    ]
  }
}
