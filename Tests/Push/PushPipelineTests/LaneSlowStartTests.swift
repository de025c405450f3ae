import Testing

@testable import PushPipeline

@Suite("The slow start of a lane")
struct LaneSlowStartTests {
  @Test("a new lane takes one of what waits, then 8, then 64, then all")
  func steps() {
    var slowStart = LaneSlowStart()
    var seen: [Int?] = [slowStart.allowance]
    var answers = 0
    for number in 1...200 {
      guard slowStart.answered() else { continue }
      answers = number
      seen.append(slowStart.allowance)
    }
    #expect(seen == [1, 8, 64, nil])
    #expect(answers == 1 + 8 + 64)
  }

  @Test("a lane whose probe has come through begins at 8, however far it was before")
  func again() {
    var slowStart = LaneSlowStart()
    for _ in 0..<100 { _ = slowStart.answered() }
    slowStart.begin()
    #expect(slowStart.allowance == 8)
    let grew = (0..<8).map { _ in slowStart.answered() }
    #expect(grew == Array(repeating: false, count: 7) + [true])
    #expect(slowStart.allowance == 64)
  }
}
