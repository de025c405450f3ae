import Reactors
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

  @Test("calls when a message is due and never before, and leaves none out")
  func follow() {
    let schedule = ArrivalSchedule(start: Reactor.now + 1_000_000, perSecond: 2000, warmUpSeconds: 0, seconds: 0.02)
    var beats: [UInt64] = []
    schedule.follow { beats.append(Reactor.now) }
    #expect(beats.count == schedule.count)
    for (number, beat) in beats.enumerated() { #expect(beat >= schedule.due(number)) }
  }

  @Test("catches up when all is overdue", .timeLimit(.minutes(1)))
  func late() {
    var beats = 0
    ArrivalSchedule(start: 0, perSecond: 1, warmUpSeconds: 0, seconds: 100).follow { beats += 1 }
    #expect(beats == 100)
  }
}

@Suite("Which conversation a message goes into")
struct ConversationTurnsTests {
  @Test("all take turns, or all go into one")
  func even() {
    #expect((0..<5).map(ConversationTurns.even(among: 3).conversation) == [0, 1, 2, 0, 1])
    #expect((0..<3).map(ConversationTurns.alone(7).conversation) == [7, 7, 7])
  }

  @Test(
    "half of them take turns, the others get five messages within a second", arguments: [20, 300, 1000] as [Double])
  func bursty(perSecond: Double) {
    let turns = ConversationTurns.bursty(among: 2000, perSecond: perSecond)
    let second = (0..<Int(perSecond)).map(turns.conversation)
    let counts = Dictionary(grouping: second) { $0 }.mapValues(\.count)
    #expect(counts.filter { $0.key < 1000 }.count == Int(perSecond) / 2)
    #expect(counts.filter { $0.key >= 1000 }.values.allSatisfy { $0 == 5 })
    #expect(counts.filter { $0.key >= 1000 }.count == Int(perSecond) / 10)
    let next = Set((Int(perSecond)..<2 * Int(perSecond)).map(turns.conversation))
    #expect(next.isDisjoint(with: second))
  }

  @Test("every one gets messages, and there is no other", arguments: [1, 2, 3, 10])
  func all(count: Int) {
    let turns = ConversationTurns.bursty(among: count, perSecond: 1)
    #expect(Set((0..<200).map(turns.conversation)) == Set(0..<count))
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
