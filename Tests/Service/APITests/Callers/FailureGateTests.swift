import HTTP1
import HTTPTypes
import Logging
import Reactors
import TestLogs
import Testing

@testable import API

@Suite("The gate against guesses")
struct FailureGateTests {
  @Test(
    "the eleventh failure is answered 429, over a Unix socket none is; the log has one line of either",
    arguments: [("192.0.2.1", "192.0.2.1", true), ("2001:db8::1", "2001:db8::1", true), (nil, "unix", false)])
  func failures(_ address: String?, _ name: String, _ isTurnedAway: Bool) throws {
    let lines = LogLines()
    let gate = FailureGate(for: "secret", logger: lines.logger)
    let client = try address.map { try #require(IPAddress($0)) }
    for _ in 0..<10 { #expect(gate.recordFailure(of: client) == nil) }
    let refusal = gate.recordFailure(of: client)
    #expect((refusal?.status == .tooManyRequests) == isTurnedAway)
    #expect(refusal?.fields[.retryAfter] == (isTurnedAway ? "6" : nil))
    #expect(lines.all.map(\.metadata) == [["proof": "secret", "peer": name, "count": "1"]])
  }
}
