internal import PushStore
internal import Reactors

/// Events of which some recipients are accepted while others keep everybody waiting.
///
/// An event is recorded when its last recipient is decided, which may take as long as a push may. Whoever takes it over from
/// a process that dies meanwhile would send again to all who have it. So those are written to the ledger early, where claims
/// look.
final class SlowEvents: TimerHandler {
  /// How long an event has from its first look here; answers of APNs take some tens of milliseconds, and most events are
  /// recorded as a whole by then.
  private static let patience = Duration.milliseconds(100)

  private weak var pipeline: DeliveryPipeline?
  private var watched: [ObjectIdentifier: (progress: EventProgress, since: UInt64)] = [:]
  private var timer: TimerToken?

  init(of pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  /// Looks after an event that is not decided yet.
  func watch(_ progress: EventProgress, on reactor: isolated Reactor) {
    guard progress.event.recipients.count > 1 else { return }
    let id = ObjectIdentifier(progress)
    if watched[id] == nil { watched[id] = (progress, Reactor.now) }
    if timer == nil { timer = reactor.schedule(after: Self.patience / 2, self) }
  }

  /// No more parts are written.
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
