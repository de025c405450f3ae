import CoreMetrics
import Logging
import Operations
import PushStore
import Reactors
import Settings

/// Sends a process's share of the events that the host gets.
final class HostEventDuty {
  private let sender: HostEventSender

  /// Nil where no events are sent.
  init?(
    _ settings: EventSettings?, store: PushDatabase, sleep: DatabaseSleep?, metrics: any MetricsFactory, logger: Logger,
    on reactor: isolated Reactor
  ) {
    guard let settings else { return nil }
    sender = HostEventSender(
      store: store, receiver: HostEventReceiver(HostEventConfiguration(settings), on: reactor),
      metrics: HostEventMetrics(metrics), sleep: sleep, logger: logger)
  }

  func start(on reactor: isolated Reactor) {
    reactor.start { await self.sender.run(on: reactor) }
  }

  /// Claims no more events.
  func stop(on reactor: isolated Reactor) { sender.stop(on: reactor) }

  /// Waits for the events under way.
  func close(within limit: Duration, on reactor: isolated Reactor) async {
    await sender.drain(within: limit, on: reactor)
  }
}
