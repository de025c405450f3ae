internal import Channels
internal import Glibc
internal import HTTP2
internal import Logging
internal import PushRules
internal import Reactors
internal import Settings

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
