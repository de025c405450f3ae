import HTTPServing
import HTTPTypes
import Logging
import Reactors
import TestLogs
import Testing

@testable import PushAPI

@Suite("The gate against guesses")
struct FailureGateTests {
  @Test(
    "after ten failures a peer is turned away, those over a Unix socket never; the log has one line of either",
    arguments: [("192.0.2.1", "192.0.2.1", true), ("2001:db8::1", "2001:db8::1", true), (nil, "unix", false)])
  func failures(_ address: String?, _ name: String, _ isTurnedAway: Bool) throws {
    let lines = LogLines()
    let gate = FailureGate(logger: lines.logger)
    let client = try address.map { try #require(IPAddress($0)) }
    for _ in 0..<9 { gate.noteFailure(of: client) }
    #expect(gate.refusal(of: client) == nil)
    gate.noteFailure(of: client)
    #expect((gate.refusal(of: client)?.status == .tooManyRequests) == isTurnedAway)
    #expect(lines.all.map(\.metadata) == [["peer": name, "count": "1"]])
  }
}
