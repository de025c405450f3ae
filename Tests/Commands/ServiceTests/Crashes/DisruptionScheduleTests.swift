import Testing

@Suite("A schedule of disruptions")
struct DisruptionScheduleTests {
  @Test("is the same for the same seed, another for another, and a longer one begins like a shorter one")
  func seeds() {
    let schedule = DisruptionSchedule(seed: 7, seconds: 60).disruptions
    #expect(schedule == DisruptionSchedule(seed: 7, seconds: 60).disruptions)
    #expect(schedule != DisruptionSchedule(seed: 8, seconds: 60).disruptions)
    let longer = DisruptionSchedule(seed: 7, seconds: 120).disruptions
    #expect(longer.count > schedule.count && Array(longer.prefix(schedule.count)) == schedule)
  }

  @Test("has something every one to three seconds, and every kind in little more than a minute", arguments: 1...20)
  func kinds(seed: UInt64) {
    let schedule = DisruptionSchedule(seed: seed, seconds: 100).disruptions
    let gaps = zip([0] + schedule.map(\.atMilliseconds), schedule.map(\.atMilliseconds)).map { $1 - $0 }
    #expect(gaps.allSatisfy { (1000...3000).contains($0) })
    let names = Set(schedule.map(\.name))
    #expect(names.count == 18, "\(names.sorted())")
  }

  @Test("leaves a replica alone while it is away or paused, unless both are", arguments: 1...20)
  func oneAtATime(seed: UInt64) {
    var busyUntil = [Int](repeating: 0, count: DisruptionSchedule.replicas)
    for disruption in DisruptionSchedule(seed: seed, seconds: 300).disruptions {
      let (number, length): (Int, Int)
      switch disruption.kind {
      case .killReplica(let replica, let away): (number, length) = (replica, away)
      case .pauseReplica(let replica, let pause): (number, length) = (replica, pause)
      default: continue
      }
      let now = disruption.atMilliseconds
      #expect(busyUntil[number] <= now || busyUntil.allSatisfy { $0 > now })
      busyUntil[number] = max(busyUntil[number], now + length)
    }
  }
}
