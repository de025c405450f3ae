import Postgres
import Reactors
import TestReactors
import Testing

@testable import PushStore

/// Starts a listener beside a pool, and closes both at the end.
/// - Parameters:
///   - pooled: how the pool connects, if not as the listener does.
///   - interval: between two proofs that it hears. limit: how long one may take.
func withListener(
  _ configuration: PostgresConfiguration, pooled: PostgresConfiguration? = nil,
  interval: Duration = WakeListener.probeInterval, limit: Duration = patience,
  _ body: @escaping @Sendable (WakeListener, Wakes, ListenStatus, isolated Reactor) async throws -> Void
) async throws {
  try await onReactor { reactor in
    let (wakes, status) = (Wakes(), ListenStatus())
    let pool = PostgresPool(pooled ?? configuration, size: 1, acquireLimit: patience, logger: quiet)
    pool.start(on: reactor)
    let listener = WakeListener(
      configuration, pool: pool, probeInterval: interval, probeLimit: limit, status: status, logger: quiet,
      handler: wakes)
    listener.start(on: reactor)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(listener, wakes, status, reactor))
    } catch {
      result = .failure(error)
    }
    await listener.close(on: reactor)
    await pool.close(on: reactor)
    try result.get()
  }
}

/// Counts wake-ups.
final class Wakes: WakeHandler {
  private(set) var count = 0
  private(set) var releases = 0
  private(set) var waits: [Duration] = []
  private(set) var isHearing = false
  private(set) var notifyCost: Duration?
  private let woken = Signal()

  func databaseWoke(on reactor: isolated Reactor) {
    count += 1
    woken.signal(on: reactor)
  }

  func workIsDue(after wait: Duration, on reactor: isolated Reactor) {
    waits.append(wait)
    woken.signal(on: reactor)
  }

  func releasesQueued(on reactor: isolated Reactor) {
    releases += 1
    woken.signal(on: reactor)
  }

  func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    self.isHearing = isHearing
  }

  func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    notifyCost = cost
  }

  func next(on reactor: isolated Reactor) async throws {
    try #require(await woken.wait(for: patience, on: reactor))
  }
}

extension ListenStatus {
  /// Returns once it is as expected; there is no signal but the value, which other reactors read.
  func awaitState(on reactor: isolated Reactor, _ isExpected: (State) -> Bool) async throws {
    let deadline = ContinuousClock.now + patience
    while !isExpected(state) {
      try #require(ContinuousClock.now < deadline, "still \(state)")
      await reactor.sleep(for: .milliseconds(2))
    }
  }
}
