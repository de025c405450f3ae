import Glibc
import Postgres
import Reactors
import Synchronization

/// Inserts messages when they are due, independently of earlier ones.
final class OpenLoop {
  private let writer: MessageWriter
  private let schedule: ArrivalSchedule
  private let atFirstCounted: () -> Void
  private var dispatched = 0
  private let end = Signal()

  /// - Parameter atFirstCounted: called when the first counted message is due.
  init(_ schedule: ArrivalSchedule, through writer: MessageWriter, atFirstCounted: @escaping () -> Void = {}) {
    self.writer = writer
    self.schedule = schedule
    self.atFirstCounted = atFirstCounted
  }

  /// Follows the schedule to its end, and waits for all commits.
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

/// The times of messages, evenly spaced by the monotonic clock and independent of earlier messages.
struct ArrivalSchedule: Sendable, Equatable {
  /// The lead before the first message, so that the metronome is ready in time.
  static let leadNanoseconds: UInt64 = 20_000_000

  /// When number 0 is due, in monotonic nanoseconds.
  let start: UInt64
  let perSecond: Double
  /// The first messages, which do not count.
  let warmUp: Int
  /// All messages, including the warm-up.
  let count: Int

  init(start: UInt64, perSecond: Double, warmUpSeconds: Double, seconds: Double) {
    self.start = start
    self.perSecond = perSecond
    warmUp = Int((perSecond * warmUpSeconds).rounded())
    count = warmUp + max(1, Int((perSecond * seconds).rounded()))
  }

  var counted: Range<Int> { warmUp..<count }

  /// When a message is due, in monotonic nanoseconds.
  func due(_ number: Int) -> UInt64 { start &+ UInt64(Double(number) / perSecond * 1e9) }

  /// From the first counted message to the time of one more after the last, in monotonic nanoseconds.
  var countedSpan: Range<UInt64> { due(warmUp)..<due(count) }

  func dueCount(at now: UInt64) -> Int {
    guard now >= start else { return 0 }
    var number = min(count, Int(Double(now - start) / 1e9 * perSecond) + 1)
    // The division may round across an edge, so `due` decides.
    while number > 0, due(number - 1) > now { number -= 1 }
    while number < count, due(number) <= now { number += 1 }
    return number
  }
}

/// Calls a closure at the times of a schedule, from a separate thread. A reactor's timers have milliseconds only. At a
/// thousand messages a second that would shift every arrival by half of the interval.
final class Metronome: Sendable {
  private let schedule: ArrivalSchedule
  private let beat: @Sendable () -> Void
  private let isStopped = Mutex(false)

  private init(_ schedule: ArrivalSchedule, beat: @escaping @Sendable () -> Void) {
    self.schedule = schedule
    self.beat = beat
  }

  /// Starts the thread. Messages that become due during a beat share the next one.
  static func start(_ schedule: ArrivalSchedule, beat: @escaping @Sendable () -> Void) throws(SystemError) -> Metronome
  {
    let metronome = Metronome(schedule, beat: beat)
    var thread = pthread_t()
    // Retained once for the thread, which releases it.
    let argument = Unmanaged.passRetained(metronome)
    let code = pthread_create(&thread, nil, { runMetronome($0) }, argument.toOpaque())
    guard code == 0 else {
      argument.release()
      throw SystemError(operation: "pthread_create", code: code)
    }
    pthread_detach(thread)
    return metronome
  }

  /// Ends the thread after at most one more beat.
  func stop() { isStopped.withLock { $0 = true } }

  fileprivate func run() {
    var number = 0
    while number < schedule.count, !isStopped.withLock({ $0 }) {
      sleep(until: schedule.due(number))
      // Computed before the beat, so that messages that become due meanwhile get the next one.
      number = max(number + 1, schedule.dueCount(at: Reactor.now))
      beat()
    }
  }

  private func sleep(until moment: UInt64) {
    var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }
}

private func runMetronome(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  // Retained once for this thread by `Metronome.start`; taken over here.
  Unmanaged<Metronome>.fromOpaque(argument).takeRetainedValue().run()
  return nil
}
