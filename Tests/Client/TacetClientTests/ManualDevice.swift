import Foundation
import Synchronization

@testable import TacetClient

/// A device whose clock, zone, permission and pending notifications a test sets.
final class ManualDevice: LocalScheduler {
  private struct State {
    var now: Date
    var zone = TimeZone.gmt
    var sleepers: [Int: (due: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var sleeperCount = 0
    var permission = DeviceRegistration.Authorization.authorized
    var pending: [String] = []
    var armed: [LocalNotification] = []
    var cancelled: [String] = []
    var armsLeft = Int.max
    var armingError = ArmingError.denied
    var whenCancelled: (@Sendable () async -> Void)?
  }

  private let state: Mutex<State>
  private let slept: AsyncStream<Void>
  private let sleeping: AsyncStream<Void>.Continuation

  init(at now: Date) {
    state = Mutex(State(now: now))
    (slept, sleeping) = AsyncStream.makeStream()
  }

  /// The clock for a ``ScheduleKeeper``.
  var clock: DeviceClock {
    DeviceClock(now: { self.now }, zone: { self.zone }, sleep: { try await self.sleep($0) })
  }

  var now: Date {
    get { state.withLock { $0.now } }
    set { state.withLock { $0.now = newValue } }
  }

  var zone: TimeZone {
    get { state.withLock { $0.zone } }
    set { state.withLock { $0.zone = newValue } }
  }

  var permission: DeviceRegistration.Authorization {
    get { state.withLock { $0.permission } }
    set { state.withLock { $0.permission = newValue } }
  }

  /// The identifiers that the system holds.
  var held: [String] {
    get { state.withLock { $0.pending } }
    set { state.withLock { $0.pending = newValue } }
  }

  /// The system takes so many more notifications, then fails.
  func take(_ count: Int, then error: ArmingError) {
    state.withLock { ($0.armsLeft, $0.armingError) = (count, error) }
  }

  /// What was armed and cancelled since the last call, in order.
  func changes() -> (armed: [LocalNotification], cancelled: [String]) {
    state.withLock { state in
      defer { (state.armed, state.cancelled) = ([], []) }
      return (state.armed, state.cancelled)
    }
  }

  func authorization() async -> DeviceRegistration.Authorization { permission }

  func pending() async -> [String] { held }

  func arm(_ notification: LocalNotification) async throws(ArmingError) {
    let error: ArmingError? = state.withLock {
      guard $0.armsLeft > 0 else { return $0.armingError }
      $0.armsLeft -= 1
      $0.armed.append(notification)
      $0.pending.removeAll { $0 == notification.identifier }
      $0.pending.append(notification.identifier)
      return nil
    }
    if let error { throw error }
  }

  func cancel(_ identifiers: [String]) async {
    let action = state.withLock {
      $0.cancelled += identifiers
      $0.pending.removeAll(where: identifiers.contains)
      return $0.whenCancelled
    }
    await action?()
  }

  /// Calls something while the system cancels.
  func whenCancelled(_ action: @escaping @Sendable () async -> Void) { state.withLock { $0.whenCancelled = action } }

  /// Waits until somebody sleeps.
  func waitForSleeper() async { for await _ in slept { return } }

  /// Ends the sleeps whose time has come; their number.
  func wakeDue() -> Int {
    let due = state.withLock { state in
      let due = state.sleepers.filter { $0.value.due <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
    return due.count
  }

  private func sleep(_ duration: Duration) async throws {
    let number = state.withLock {
      $0.sleeperCount += 1
      return $0.sleeperCount
    }
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock {
          if !Task.isCancelled { $0.sleepers[number] = ($0.now.addingTimeInterval(seconds), continuation) }
          return Task.isCancelled
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
        sleeping.yield()
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
    }
  }
}
