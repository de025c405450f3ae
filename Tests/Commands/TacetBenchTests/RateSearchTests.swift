import Testing

@testable import tacet_bench

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
