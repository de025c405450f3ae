import Testing

@testable import Simulators

@Suite("Who gets a connection")
struct ConnectionGateTests {
  private let second: UInt64 = 1_000_000_000

  @Test("connecting too often is refused for a while, then everything is forgotten")
  func churn() {
    var gate = ConnectionGate()
    let limit = ChurnLimit(connections: 2, seconds: 10, refusedMilliseconds: 5000)
    let admitted = [0, 1, 2, 6, 7, 8].map { gate.admits(limit, now: $0 * second) }
    #expect(admitted == [true, true, false, false, true, true])
    #expect(gate.refusedCount == 2)
  }

  @Test("a connection counts for exactly the time of the limit")
  func window() {
    for (moment, isAdmitted) in [(10 * second - 1, false), (10 * second, true)] {
      var gate = ConnectionGate()
      let limit = ChurnLimit(connections: 1, seconds: 10, refusedMilliseconds: 1)
      let admitted = [0, moment].map { gate.admits(limit, now: $0) }
      #expect(admitted == [true, isAdmitted])
    }
  }

  @Test("so many clients, or everybody for a time, are turned away; without a limit nobody else is")
  func ordered() {
    var gate = ConnectionGate()
    gate.refuse(next: 2)
    let next = (0..<3).map { _ in gate.admits(nil, now: 0) }
    #expect(next == [false, false, true])
    gate.refuse(until: 5)
    let later = [4, 5].map { gate.admits(nil, now: $0) }
    #expect(later == [false, true])
    #expect(gate.refusedCount == 3)
  }
}
