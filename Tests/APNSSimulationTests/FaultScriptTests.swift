import Testing

@testable import APNSSimulation

@Suite("Fault scripts")
struct FaultScriptTests {
  @Test("a fault lets its requests pass, hits its number, and makes room for the next")
  func order() {
    var script = FaultScript()
    script.append(.init(.blackHole, skip: 2, times: 1))
    script.append(.init(.refuseStream, skip: 0, times: 2))
    script.append(.init(.dropAfterProcessing, skip: 1, times: 1))
    let met = (0..<8).map { _ in script.next() }
    #expect(met == [nil, nil, .blackHole, .refuseStream, .refuseStream, nil, .dropAfterProcessing, nil])
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
