import Reactors
import Synchronization
import Testing

@testable import tacet_bench

@Suite("A schedule of arrivals")
struct ArrivalScheduleTests {
  private static let start: UInt64 = 1_000_000_000

  private func makeSchedule(
    perSecond: Double = 4, warmUpSeconds: Double = 1, seconds: Double = 2
  ) -> ArrivalSchedule {
    ArrivalSchedule(start: Self.start, perSecond: perSecond, warmUpSeconds: warmUpSeconds, seconds: seconds)
  }

  @Test("messages are due at even distances from the start")
  func even() {
    let schedule = makeSchedule()
    #expect((0..<4).map(schedule.due) == [1_000_000_000, 1_250_000_000, 1_500_000_000, 1_750_000_000])
  }

  @Test("what counts follows the warm-up, and ends where one more would be due")
  func counted() {
    let schedule = makeSchedule()
    #expect(schedule.counted == 4..<12)
    #expect(schedule.countedSpan == 2_000_000_000..<4_000_000_000)
  }

  @Test(
    "there is always one that counts",
    arguments: [(50, 0, 0.001, 0, 1), (50, 0.01, 0.01, 1, 2), (50, 2, 10, 100, 600), (0.5, 0, 4, 0, 2)]
      as [(Double, Double, Double, Int, Int)])
  func counts(perSecond: Double, warmUp: Double, seconds: Double, first: Int, count: Int) {
    let schedule = makeSchedule(perSecond: perSecond, warmUpSeconds: warmUp, seconds: seconds)
    #expect(schedule.counted == first..<count)
  }

  @Test(
    "a message is due from its moment on",
    arguments: [
      (0, 0), (999_999_999, 0), (1_000_000_000, 1), (1_249_999_999, 1), (1_250_000_000, 2), (3_749_999_999, 11),
      (3_750_000_000, 12), (9_000_000_000, 12),
    ] as [(UInt64, Int)])
  func due(now: UInt64, count: Int) {
    #expect(makeSchedule().dueCount(at: now) == count)
  }

  @Test(
    "counting agrees with each message's moment at rates that no nanosecond divides", arguments: [3, 7, 300, 6103.5])
  func agrees(perSecond: Double) {
    let schedule = makeSchedule(perSecond: perSecond, seconds: 3)
    for number in 0..<schedule.count {
      #expect(schedule.dueCount(at: schedule.due(number)) == number + 1)
      #expect(schedule.dueCount(at: schedule.due(number) - 1) == number)
    }
  }
}

@Suite("The metronome")
struct MetronomeTests {
  @Test("beats when a message is due and never before, and none is left out")
  func beats() async throws {
    let schedule = ArrivalSchedule(start: Reactor.now + 1_000_000, perSecond: 2000, warmUpSeconds: 0, seconds: 0.02)
    let beats = try await beats(of: schedule)
    #expect(beats.count <= schedule.count)
    for (number, beat) in beats.enumerated() { #expect(beat >= schedule.due(number)) }
    #expect(beats.last.map(schedule.dueCount) == schedule.count)
  }

  @Test("catches up with one beat when all is overdue")
  func late() async throws {
    let schedule = ArrivalSchedule(start: Reactor.now - 1_000_000_000, perSecond: 100, warmUpSeconds: 0, seconds: 0.5)
    #expect(try await beats(of: schedule).count == 1)
  }

  /// The moments of all beats, in monotonic nanoseconds, until everything is due.
  private func beats(of schedule: ArrivalSchedule) async throws -> [UInt64] {
    let (stream, continuation) = AsyncStream.makeStream(of: UInt64.self)
    _ = try Metronome.start(schedule) { continuation.yield(Reactor.now) }
    var beats: [UInt64] = []
    for await beat in stream {
      beats.append(beat)
      if schedule.dueCount(at: beat) == schedule.count { break }
    }
    return beats
  }
}

@Suite("The search for the highest rate")
struct RateSearchTests {
  /// What is tried when everything up to a capacity is kept up with.
  private func tried(from start: Double, capacity: Double) -> [Double] {
    var search = RateSearch(from: start)
    var rates: [Double] = []
    while let rate = search.next, rates.count < 100 {
      rates.append(rate)
      search.record(rate, isKept: rate <= capacity)
    }
    return rates
  }

  @Test(
    "goes up by a quarter until a rate is missed, then three times between the two",
    arguments: [
      (2000, [2000, 2500, 2250, 2125, 2063]), (2499, [2000, 2500, 2250, 2375, 2438]),
      (2500, [2000, 2500, 3125, 2813, 2657, 2579]), (4000, [2000, 2500, 3125, 3906, 4883, 4395, 4151, 4029]),
    ] as [(Double, [Double])])
  func up(capacity: Double, rates: [Double]) {
    #expect(tried(from: 2000, capacity: capacity) == rates)
  }

  @Test("goes down when the first rate is missed")
  func down() {
    #expect(tried(from: 2000, capacity: 1300) == [2000, 1600, 1280, 1440, 1360, 1320])
  }

  @Test("ends when nothing is kept up with, and when rates are too near to halve", arguments: [0, 1, 2])
  func end(capacity: Double) {
    let rates = tried(from: 4, capacity: capacity)
    #expect(rates.count < 10)
    #expect(rates.allSatisfy { $0 >= 1 })
  }
}
