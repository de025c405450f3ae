import Postgres
import Reactors

/// Has messages inserted when they are due, whatever becomes of those before them.
final class OpenLoop {
  private let writer: MessageWriter
  private let schedule: ArrivalSchedule
  private let atFirstCounted: () -> Void
  private var dispatched = 0
  private let end = Signal()

  /// - Parameter atFirstCounted: called when the first message that counts is due.
  init(_ schedule: ArrivalSchedule, through writer: MessageWriter, atFirstCounted: @escaping () -> Void = {}) {
    self.writer = writer
    self.schedule = schedule
    self.atFirstCounted = atFirstCounted
  }

  /// Follows the schedule to its end, and waits until everything is committed.
  func run(on reactor: isolated Reactor) async throws {
    let bound = ReactorBound(self, on: reactor)
    let metronome = try Metronome.start(schedule) { bound.submit { $0.dispatchDue(on: $1) } }
    _ = await end.wait(on: reactor)
    metronome.stop()
    try await writer.drain(on: reactor)
  }

  private func dispatchDue(on reactor: isolated Reactor) {
    let due = schedule.dueCount(at: Reactor.now)
    while dispatched < due, writer.failure == nil {
      if dispatched == schedule.warmUp { atFirstCounted() }
      writer.insertSoon(intended: schedule.due(dispatched), on: reactor)
      dispatched += 1
    }
    if dispatched == schedule.count || writer.failure != nil { end.signal(on: reactor) }
  }
}
