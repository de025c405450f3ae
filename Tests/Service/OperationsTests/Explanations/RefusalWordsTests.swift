import Foundation
import PushRules
import TestRepository
import Testing

@testable import Operations

@Suite("Reasons in words")
struct RefusalWordsTests {
  private static func source(_ path: String) throws -> String {
    try Repository.text("Sources/Push/\(path)")
  }

  @Test("every reason of APNs that the service knows means something")
  func reasons() throws {
    let table = try Self.source("PushRules/Payloads/PushDisposition+Table.swift")
    let reasons = table.matches(of: /"([A-Za-z ]+)": Row/).map { String($0.1) }
    #expect(reasons.count > 25)
    #expect(reasons.filter { RefusalWords.meaning(of: $0) == nil } == [])
  }

  @Test("so does every fault of a request that is found before it is sent")
  func faults() throws {
    let codes = try Self.source("PushRules/Payloads/PushRequestError.swift").matches(of: /\n    case (\w+)\n/).map {
      String($0.1)
    }
    #expect(codes.count >= 10)
    #expect(codes.filter { RefusalWords.meaning(of: $0) == nil } == [])
  }

  @Test(
    "so do the service's own words and bare statuses; what is not known is quoted",
    arguments: [
      ("apns_unreachable", "APNs could not be reached, and has certainly not seen the push (apns_unreachable)"),
      (
        "apns_answer_lost",
        "the connection ended before APNs' answer, so APNs may have delivered the push (apns_answer_lost)"
      ),
      ("app_not_configured", "the app of the device is not configured in the service (app_not_configured)"),
      ("http_502", "APNs answered 502 without a reason (http_502)"),
      ("SomethingNew", "APNs' reason was SomethingNew"),
    ])
  func described(reason: String, text: String) {
    #expect(RefusalWords.described(reason) == text)
  }
}
