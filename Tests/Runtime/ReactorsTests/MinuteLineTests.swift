import Testing

@testable import Reactors

@Suite struct MinuteLineTests {
  private static let second: UInt64 = 1_000_000_000

  @Test("the first is told at once, those of its minute with the first after it")
  func tells() {
    var line = MinuteLine()
    let times: [(UInt64, Int?)] = [(5, 1), (5, nil), (64, nil), (65, 3), (66, nil), (124, nil), (125, 3), (185, 1)]
    for (time, told) in times { #expect(line.note(now: time * Self.second) == told) }
  }

  @Test("the last nanosecond of the minute still belongs to it")
  func edge() {
    var line = MinuteLine()
    #expect(line.note(now: 0) == 1)
    #expect(line.note(now: 60 * Self.second - 1) == nil)
    #expect(line.note(now: 60 * Self.second) == 2)
  }
}
