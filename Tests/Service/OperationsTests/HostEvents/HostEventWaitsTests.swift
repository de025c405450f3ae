import HTTPTransfers
import PushStore
import Testing

@testable import Operations

@Suite("Waits between attempts at events")
struct HostEventWaitsTests {
  @Test(
    "a host that is away is tried after growing waits, and one that refuses later",
    arguments: [
      (1, false, 5), (2, false, 20), (3, false, 80), (4, false, 320), (5, false, 1280), (6, false, 3600),
      (.max, false, 3600), (0, false, 5), (1, true, 300), (2, true, 600), (7, true, 19200), (8, true, 21600),
      (.max, true, 21600),
    ])
  func waits(_ attempt: Int, _ isRefused: Bool, _ seconds: Int) {
    #expect(HostEventWaits.wait(attempt: attempt, isRefused: isRefused, chance: 1) == .seconds(seconds))
  }

  @Test(
    "2xx takes an event; what a later attempt may change is tried soon, what is refused late, and Retry-After counts if it is longer",
    arguments: [
      (199, nil, 5), (200, nil, nil), (204, nil, nil), (299, nil, nil), (300, nil, 300), (301, nil, 300),
      (400, nil, 300), (401, nil, 300), (404, nil, 300), (408, nil, 5), (410, nil, 300), (422, nil, 300), (425, nil, 5),
      (429, nil, 5), (499, nil, 300), (500, nil, 5), (503, nil, 5), (503, "4", 5), (503, "6", 6),
      (429, "90000", 86_400),
      (404, "301", 301), (503, "Thu, 01 Jan 1970 00:02:00 GMT", 20), (503, "Thu, 01 Jan 1970 00:01:00 GMT", 5),
      (503, "soon", 5), (200, "60", nil),
    ] as [(Int, String?, Int?)])
  func judged(_ status: Int, _ retryAfter: String?, _ seconds: Int?) {
    let answer = HostEventWaits.judge(
      status: status, retryAfter: retryAfter, date: nil, attempt: 1, now: 100, chance: 1)
    #expect(answer.nextTry == seconds.map { .seconds($0) })
    #expect(answer.status == status && (answer.fault == nil) == (seconds == nil))
  }
}

@Suite("How many events are under way")
struct ReceiverPacingTests {
  private static let second: UInt64 = 1_000_000_000

  @Test("all places, until three failures in a row; then one after a pause that doubles to a minute, until a success")
  func suspicious() {
    var pacing = ReceiverPacing(places: 8)
    #expect(pacing.free(underWay: 3, now: 0) == 5 && pacing.free(underWay: 9, now: 0) == 0)
    for _ in 0..<2 { pacing.failed(now: 0) }
    #expect(pacing.free(underWay: 0, now: 0) == 8)
    var now: UInt64 = 0
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [UInt64] {
      pacing.failed(now: now)
      #expect(pacing.free(underWay: 0, now: now + pause * Self.second - 1) == 0)
      now += pause * Self.second
      #expect(pacing.free(underWay: 0, now: now) == 1 && pacing.free(underWay: 1, now: now) == 0)
    }
    pacing.succeeded()
    #expect(pacing.free(underWay: 0, now: now) == 8)
  }
}
