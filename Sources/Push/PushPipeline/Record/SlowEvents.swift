internal import PushStore
internal import Reactors

/// Events with accepted recipients that wait for slower ones.
///
/// An event is recorded when its last recipient is decided, which may take as long as a push may. If the process died
/// meanwhile, the next one to claim the event would send to all recipients again. So the accepted ones are written to the
/// ledger early, where claims look.
final class SlowEvents: TimerHandler {
  /// How long an event has from its first look here. APNs answers within some tens of milliseconds, so most events are recorded
  /// as a whole by then.
  private static let patience = Duration.milliseconds(100)

  private weak var pipeline: DeliveryPipeline?
  private var watched: [ObjectIdentifier: (progress: EventProgress, since: UInt64)] = [:]
  private var timer: TimerToken?

  init(of pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  func watch(_ progress: EventProgress, on reactor: isolated Reactor) {
    guard progress.event.recipients.count > 1 else { return }
    let id = ObjectIdentifier(progress)
    if watched[id] == nil { watched[id] = (progress, Reactor.now) }
    if timer == nil { timer = reactor.schedule(after: Self.patience / 2, self) }
  }

  /// Writes no more parts.
  func cancel(on reactor: isolated Reactor) {
    watched.removeAll()
    if let timer { reactor.cancel(timer) }
    timer = nil
  }

  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    watched = watched.filter { !$0.value.progress.isDecided }
    let now = Reactor.now
    for (progress, since) in watched.values where now &- since >= Self.patience.clampedNanoseconds {
      if let part = progress.nextPart() { pipeline?.recorder.add(part, on: reactor) }
    }
    if !watched.isEmpty { self.timer = reactor.schedule(after: Self.patience / 2, self) }
  }
}
