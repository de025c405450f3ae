import APNS
import Logging
import Reactors

/// Renews the provider token when it is time. Looks once a minute; a look that fails is repeated a minute later, which
/// leaves twenty more before APNs would refuse the old one.
final class TokenRenewal {
  private static let interval = Duration.seconds(60)

  private let tokens: ProviderTokenSource
  private let logger: Logger
  private var timer: TimerToken?

  init(_ tokens: ProviderTokenSource, logger: Logger) {
    self.tokens = tokens
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
    do {
      try await tokens.renewIfDue()
    } catch {
      logger.error("cannot sign a provider token", metadata: ["error": "\(error)"])
    }
  }
}

extension TokenRenewal: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    start(on: reactor)
    reactor.start { await self.look(on: reactor) }
  }
}
