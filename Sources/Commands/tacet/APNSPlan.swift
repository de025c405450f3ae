import Channels
import Logging
import PushRules
import Reactors
import Settings

/// How every reactor reaches APNs for every app. It is whole before any reactor takes it, so that keys that cannot sign
/// change nothing.
struct APNSPlan: Sendable {
  let settings: APNSSettings
  private let context: TLSContext
  /// One for each team and key in the process: APNs counts how often their tokens change.
  private let tokens: [SigningKeySettings: ProviderTokenSource]

  /// Reuses the tokens of the plan before it, which has the same apps and servers.
  ///
  /// Token sources are kept for one plan longer than they are used: an operator who takes a new key back at once must not
  /// cause a second token of the old one.
  /// - Throws: when a key cannot sign, or the certificates cannot be trusted.
  init(_ settings: APNSSettings, after previous: APNSPlan? = nil) throws {
    self.settings = settings
    context = try previous?.context ?? APNSClient.makeContext(certificatesFile: settings.certificatesFile)
    var tokens = previous?.tokensInUse ?? [:]
    for key in Set(settings.apps.map(\.key)) {
      tokens[key] = try Self.source(for: key, known: previous?.tokens[key])
    }
    self.tokens = tokens
  }

  /// The token sources of the apps, each once.
  var sources: [ProviderTokenSource] { Array(tokensInUse.values) }

  /// How old the tokens of the apps are, in the order of their keys in the settings.
  var tokenAges: [Duration] {
    var known: Set<SigningKeySettings> = []
    return settings.apps.map(\.key).filter { known.insert($0).inserted }.compactMap { tokens[$0]?.current.age }
  }

  func makeClient(for key: SigningKeySettings, logger: Logger) -> APNSClient {
    APNSClient(
      endpoints: settings.endpoints, context: context, tokens: source(for: key), logger: logger)
  }

  private func source(for key: SigningKeySettings) -> ProviderTokenSource {
    guard let source = tokens[key] else { preconditionFailure("a plan has the tokens of its apps") }
    return source
  }

  private var tokensInUse: [SigningKeySettings: ProviderTokenSource] {
    let keys = Set(settings.apps.map(\.key))
    return tokens.filter { keys.contains($0.key) }
  }

  private static func source(
    for key: SigningKeySettings, known: ProviderTokenSource?
  ) throws -> ProviderTokenSource {
    if let known {
      try known.renewIfDue()
      return known
    }
    return try ProviderTokenSource(
      ProviderCredentials(
        keyIdentifier: key.keyIdentifier, teamIdentifier: key.teamIdentifier, privateKey: key.privateKey.exposed))
  }
}

/// Renews the provider tokens when it is time. Looks once a minute; a look that fails is repeated a minute later, which
/// leaves twenty more before APNs would refuse the old one.
final class TokenRenewal {
  private static let interval = Duration.seconds(60)

  /// Those of all teams and keys in use.
  var sources: [ProviderTokenSource]

  private let logger: Logger
  private var timer: TimerToken?

  init(_ sources: [ProviderTokenSource], logger: Logger) {
    self.sources = sources
    self.logger = logger
  }

  func start(on reactor: isolated Reactor) {
    timer = reactor.schedule(after: Self.interval, self)
  }

  func stop(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
  }

  private func look() {
    for source in sources {
      do {
        try source.renewIfDue()
      } catch {
        logger.error("cannot sign a provider token", metadata: ["error": "\(error)"])
      }
    }
  }
}

extension TokenRenewal: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    start(on: reactor)
    look()
  }
}
