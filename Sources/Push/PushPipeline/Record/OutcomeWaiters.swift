internal import PushStore
internal import Reactors

/// Tasks on this reactor that wait for a subject to be recorded.
final class OutcomeWaiters {
  private var signals: [PushSubject: [Signal]] = [:]

  /// Waits until the subject is recorded here, or the time is over. Another reactor or replica may record it: whoever
  /// waits looks at the ledger afterwards in either case.
  func wait(for subject: PushSubject, _ limit: Duration, on reactor: isolated Reactor) async {
    let signal = Signal()
    signals[subject, default: []].append(signal)
    _ = await signal.wait(for: limit, on: reactor)
    remove(signal, for: subject)
  }

  /// Whether somebody waits for the subject.
  func isAwaited(_ subject: PushSubject) -> Bool { signals[subject] != nil }

  func recorded(_ subject: PushSubject, on reactor: isolated Reactor) {
    for signal in signals[subject] ?? [] { signal.signal(on: reactor) }
  }

  private func remove(_ signal: Signal, for subject: PushSubject) {
    signals[subject]?.removeAll { $0 === signal }
    if signals[subject]?.isEmpty == true { signals[subject] = nil }
  }
}
