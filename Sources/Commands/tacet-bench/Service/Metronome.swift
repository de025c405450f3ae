import Glibc
import Reactors
import Synchronization

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
