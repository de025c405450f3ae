import Testing

@testable import Simulators

@Suite("Fault scripts")
struct FaultScriptTests {
  @Test("a fault lets its requests pass, hits its number, and makes room for the next")
  func order() {
    var script = FaultScript()
    script.append(.init(.blackHole, skip: 2, times: 1))
    script.append(.init(.refuseStream, skip: 0, times: 2))
    script.append(.init(.dropAfterProcessing, skip: 1, times: 1))
    let met = (0..<8).map { _ in script.next(now: 0) }
    #expect(met == [nil, nil, .blackHole, .refuseStream, .refuseStream, nil, .dropAfterProcessing, nil])
    #expect(script.entries.isEmpty)
  }

  @Test("a fault that is not due yet neither counts nor hits, and holds up no other")
  func notBefore() {
    var script = FaultScript()
    script.append(.init(.blackHole, notBefore: 10))
    script.append(.init(.refuseStream, skip: 1))
    let met = [0, 9, 10, 10].map { script.next(now: $0) }
    #expect(met == [nil, .refuseStream, .blackHole, nil])
  }

  @Test("a fault for no request is none")
  func noTimes() {
    var script = FaultScript()
    script.append(.init(.blackHole, times: 0))
    #expect(script.entries.isEmpty)
  }

  @Test("a script has a bound")
  func bound() {
    var script = FaultScript()
    let taken = (0...FaultScript.entriesMax).map { _ in script.append(.init(.blackHole)) }
    #expect(taken.dropLast().allSatisfy { $0 })
    #expect(taken.last == false)
  }
}
