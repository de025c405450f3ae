import APNS
import APNSCore
import Testing

@testable import tacet_bench

@Suite("The books of a load")
struct LoadBooksTests {
  @Test(
    "an answer that the service would not try again is final",
    arguments: [
      (200, nil, true), (400, "BadTopic", true), (404, nil, true), (410, "Unregistered", true),
      (403, "InvalidProviderToken", true), (403, "ExpiredProviderToken", false), (429, "TooManyRequests", false),
      (500, "InternalServerError", false), (503, "Shutdown", false), (421, nil, false),
    ] as [(Int, PushReason?, Bool)])
  func finality(status: Int, reason: PushReason?, isFinal: Bool) {
    var books = LoadBooks()
    let noted = books.note(.answered(PushAnswer(status: status, reason: reason)))
    #expect(noted == isFinal)
    #expect(books.statuses == (isFinal ? [status: 1] : [:]))
    #expect(books.failures.values.reduce(0, +) == (isFinal ? 0 : 1))
  }

  @Test("an attempt without an answer is counted by what the ledger would say")
  func failures() {
    var books = LoadBooks()
    let failures = [TransportFailure.unknown(cause: "reset"), .unknown(cause: "lost"), .notProcessed(cause: "refused")]
    for failure in failures {
      let isFinal = books.note(.failed(failure))
      #expect(!isFinal)
    }
    #expect(books.failures == ["apns_answer_lost": 2, "apns_unreachable": 1])
  }
}
