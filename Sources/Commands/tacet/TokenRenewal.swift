import APNS
import Logging
import Reactors

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

  private func look(on reactor: isolated Reactor) async {
    for source in sources {
      do {
        try await source.renewIfDue()
      } catch {
        logger.error("cannot sign a provider token", metadata: ["error": "\(error)"])
      }
    }
  }
}

extension TokenRenewal: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    start(on: reactor)
    reactor.start { await self.look(on: reactor) }
  }
}
