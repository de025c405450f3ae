import Foundation
import Testing

@testable import Operations
@testable import PushStore

@Suite("Claims without a record")
struct RecordedClaimsTests {
  private static func told(_ claims: [Int]) -> Told {
    var told = Told()
    for claim in claims {
      told.claim(claim, at: Int64(claim) * 1_000_000, decision: .sent, attempts: [Told.attempt()])
    }
    return told
  }

  private static func lost(_ told: Told) -> [String] {
    told.explanation.recipients[0].steps.filter { $0.what == .lostClaim }.map(\.text)
  }

  @Test("what a slow claim recorded behind its follower is no gap")
  func late() {
    let told = Self.told([1, 3, 2])
    #expect(Self.lost(told) == [] && !told.sentence.contains("left no record"))
  }

  @Test("the claims of others count before the first record of a push, and not behind it")
  func others() {
    var told = Self.told([2, 4])
    told.event.recordedClaims = [1, 2, 3, 4]
    #expect(told.sentence.contains("Claim 3 left no record") && !told.sentence.contains("Claim 1"))
    #expect(Self.lost(told).map { $0.prefix(9) } == ["claim 3 l"])
  }

  @Test("the middle of a long history is left out and not lost", arguments: [(39, false), (40, true)])
  func cut(count: Int, isCut: Bool) {
    let told = Self.told(Array(1...20) + Array(24..<(24 + count - 20)))
    #expect(told.sentence.contains("left no record") != isCut)
    #expect(Self.lost(told).contains("3 claims in between left out") == isCut)
  }

  @Test(
    "a row with a number that no claim has is told as quickly, and says what it leaves out", .timeLimit(.minutes(1)))
  func enormous() {
    let told = Self.told([1, Int(Int32.max)])
    #expect(Self.lost(told).count == 101)
    #expect(Self.lost(told).contains("\(Int(Int32.max) - 102) claims in between left out"))
    #expect(told.sentence.contains("Claim 2 left no record"))
  }

  @Test("a history is read as far as it can be: numbers are bounded, and entries of another form are left out")
  func odd() throws {
    let entry = #"{"claim": 9223372036854775807, "by": "i", "woken_by": "poll", "known": {}, "decision": "sent"}"#
    for (history, count) in [("[\(entry), 7, {\"claim\": \"x\"}, \(entry)]", 2), ("{}", 0), ("7", 0)] {
      let read = try JSONDecoder().decode(ReadableHistory.self, from: Data(history.utf8))
      #expect(read.wrappedValue.map(\.claim) == Array(repeating: Int(Int32.max), count: count))
    }
  }

  @Test("a host whose functions failed is named, and nobody is said to take no part")
  func host() {
    var told = Told()
    told.event.source = nil
    told.event.hostFailure = "SQLSTATE P0001"
    told.recipient.isParticipant = false
    #expect(
      told.explanation.summary.hasSuffix(
        "failed for it (SQLSTATE P0001), so this is told from Tacet's own tables alone."))
    #expect(told.sentence.hasPrefix("Nothing is recorded for the user; whether it concerns them is not known"))
  }
}
