import Glibc
import Postgres
import Reactors
import Synchronization

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

/// When messages are to be inserted, whatever becomes of those before them: evenly spaced by the monotonic clock.
struct ArrivalSchedule: Sendable, Equatable {
  /// Between the making of a schedule and its first message, so that the metronome is there in time.
  static let leadNanoseconds: UInt64 = 20_000_000

  /// When number 0 is due, in monotonic nanoseconds.
  let start: UInt64
  let perSecond: Double
  /// Those that do not count, at the beginning.
  let warmUp: Int
  /// All, those that do not count included.
  let count: Int

  init(start: UInt64, perSecond: Double, warmUpSeconds: Double, seconds: Double) {
    self.start = start
    self.perSecond = perSecond
    warmUp = Int((perSecond * warmUpSeconds).rounded())
    count = warmUp + max(1, Int((perSecond * seconds).rounded()))
  }

  /// Those that count.
  var counted: Range<Int> { warmUp..<count }

  /// When a message is due, in monotonic nanoseconds.
  func due(_ number: Int) -> UInt64 { start &+ UInt64(Double(number) / perSecond * 1e9) }

  /// From the first that counts to the moment at which one more would be due, in monotonic nanoseconds.
  var countedSpan: Range<UInt64> { due(warmUp)..<due(count) }

  /// How many are due at a moment.
  func dueCount(at now: UInt64) -> Int {
    guard now >= start else { return 0 }
    var number = min(count, Int(Double(now - start) / 1e9 * perSecond) + 1)
    // The division may round to the other side of an edge; `due` decides.
    while number > 0, due(number - 1) > now { number -= 1 }
    while number < count, due(number) <= now { number += 1 }
    return number
  }
}

/// Calls at the moments of a schedule, from a thread of its own: a reactor's timers know milliseconds only, and at a
/// thousand messages a second that would move every arrival by half of the distance between two.
final class Metronome: Sendable {
  private let schedule: ArrivalSchedule
  private let beat: @Sendable () -> Void
  private let isStopped = Mutex(false)

  private init(_ schedule: ArrivalSchedule, beat: @escaping @Sendable () -> Void) {
    self.schedule = schedule
    self.beat = beat
  }

  /// Begins. What became due while a beat was called gets one beat together.
  static func start(_ schedule: ArrivalSchedule, beat: @escaping @Sendable () -> Void) throws(SystemError) -> Metronome
  {
    let metronome = Metronome(schedule, beat: beat)
    var thread = pthread_t()
    // Retained once for the thread, which takes it over.
    let argument = Unmanaged.passRetained(metronome)
    let code = pthread_create(&thread, nil, { runMetronome($0) }, argument.toOpaque())
    guard code == 0 else {
      argument.release()
      throw SystemError(operation: "pthread_create", code: code)
    }
    pthread_detach(thread)
    return metronome
  }

  /// No beat comes after the one that is next.
  func stop() { isStopped.withLock { $0 = true } }

  fileprivate func run() {
    var number = 0
    while number < schedule.count, !isStopped.withLock({ $0 }) {
      sleep(until: schedule.due(number))
      // Looked at before the beat: who hears it sees at least these, and what becomes due meanwhile has a beat of its own.
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
