internal import Logging
internal import Reactors
internal import Synchronization

/// Tells the log of connections that were turned away, over all reactors: a line a minute, however many there are. The
/// figures have them all.
final class TurnAwayLog: Sendable {
  private let line = Mutex(MinuteLine())
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// - Parameter reason: the latest, which the line names.
  func note(_ reason: HTTPServiceFigures.TurnAway) {
    guard let count = line.withLock({ $0.note(now: Reactor.now) }) else { return }
    logger.warning("connections turned away", metadata: ["count": "\(count)", "reason": "\(reason)"])
  }
}
