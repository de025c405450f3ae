import Reactors
import TestReactors
import Testing

@testable import PushStore

@Suite("The sleep of a database, as its service keeps it")
struct DatabaseSleepTests {
  private static let quiet = Duration.milliseconds(20)

  @Test("begins when the quiet time is over, and any work begins that time anew")
  func begins() {
    let sleep = DatabaseSleep(after: .seconds(60))
    let now = Reactor.now
    #expect(!sleep.isDue(now: now) && !sleep.begin(now: now) && !sleep.isAsleep)
    let later = now + 61_000_000_000
    #expect(sleep.isDue(now: later) && sleep.begin(now: later) && sleep.isAsleep)
    #expect(!sleep.isDue(now: later) && !sleep.begin(now: later))
    sleep.stayAwake()
    #expect(!sleep.isAsleep && !sleep.isDue(now: Reactor.now + 59_000_000_000))
  }

  @Test("is half of a message's life at most, from ten minutes to an hour")
  func longest() {
    for (life, longest) in [(1, 600), (1200, 600), (1202, 601), (3600, 1800), (7200, 3600), (86_400, 3600)] {
      #expect(DatabaseSleep.longest(forLife: .seconds(life)) == .seconds(longest))
    }
  }

  @Test("a look by itself keeps the process awake for some seconds, and never ends a longer time")
  func brief() {
    let sleep = DatabaseSleep(after: .seconds(60))
    sleep.wakeBriefly()
    #expect(!sleep.isDue(now: Reactor.now + 50_000_000_000))
    #expect(sleep.begin(now: Reactor.now + 61_000_000_000))
    let rested = DatabaseSleep(after: .seconds(1))
    rested.wakeBriefly()
    #expect(rested.isDue(now: Reactor.now + 1_000_000_000))
  }

  @Test("a pause without a sleep is over in its time; one with it lasts until the process is awake")
  func pause() async throws {
    try await onReactor { reactor in
      let pause = WakefulPause()
      #expect(await !pause.wait(for: .milliseconds(1), on: reactor) && !pause.hasSlept)
      let (sleep, other) = try await Self.asleep(on: reactor)
      let ended = Signal()
      reactor.start {
        #expect(await !other.wait(for: .milliseconds(1), on: reactor))
        ended.signal(on: reactor)
      }
      while !other.isAsleep { await reactor.sleep(for: .milliseconds(1)) }
      sleep.stayAwake()
      #expect(await ended.wait(for: patience, on: reactor))
      #expect(other.hasSlept && !other.isAsleep)
      #expect(await !other.wait(for: .milliseconds(1), on: reactor) && !other.hasSlept)
    }
  }

  @Test("a signal ends a pause and not the sleep; the longest pause ends both")
  func ends() async throws {
    try await onReactor { reactor in
      let (sleep, pause) = try await Self.asleep(on: reactor)
      let ended = Signal()
      reactor.start {
        #expect(await pause.wait(for: .zero, on: reactor))
        ended.signal(on: reactor)
      }
      while !pause.isAsleep { await reactor.sleep(for: .milliseconds(1)) }
      pause.signal(on: reactor)
      #expect(await ended.wait(for: patience, on: reactor))
      #expect(sleep.isAsleep)
      #expect(await !pause.wait(for: .zero, longest: .milliseconds(5), on: reactor))
      #expect(!sleep.isAsleep && pause.hasSlept)
      // A wake-up that comes after a pause has ended by itself does not end the next one.
      #expect(await !pause.wait(for: .milliseconds(1), on: reactor))
    }
  }

  private static func asleep(on reactor: isolated Reactor) async throws -> (DatabaseSleep, WakefulPause) {
    let sleep = DatabaseSleep(after: quiet)
    while !sleep.begin(now: Reactor.now) { await reactor.sleep(for: .milliseconds(1)) }
    return (sleep, WakefulPause(sleep))
  }
}
