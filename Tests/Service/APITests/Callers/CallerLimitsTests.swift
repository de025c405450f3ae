import FoundationEssentials
import HTTP1
import HTTPTypes
import Logging
import Reactors
import TestLogs
import Testing

@testable import API

@Suite("Books of failed authentications")
struct FailureBooksTests {
  private static let second: UInt64 = 1_000_000_000
  private static let start: UInt64 = 1_000 * second

  private static func books(after failures: Int, peersMax: Int = 4) -> FailureBooks<Int> {
    var limits = FailureBooks<Int>.Limits()
    limits.peersMax = peersMax
    var books = FailureBooks<Int>(limits)
    for _ in 0..<failures { _ = books.fail(1, now: start) }
    return books
  }

  @Test(
    "ten failures in a row are free, then each takes six seconds",
    arguments: [(0, 0, nil), (9, 0, nil), (10, 0, 6_000), (10, 5_999, 1), (10, 6_000, nil), (30, 0, 6_000)]
      as [(Int, UInt64, Int?)])
  func bucket(failures: Int, millisecondsLater: UInt64, wait: Int?) {
    let now = Self.start + millisecondsLater * 1_000_000
    var books = Self.books(after: failures)
    #expect(books.fail(1, now: now).wait == wait.map { .milliseconds($0) })
  }

  @Test("a bucket that was emptied is full after a minute, and no fuller ever")
  func refill() {
    var books = Self.books(after: 10)
    for pause in [60, 86_400] as [UInt64] {
      let later = Self.start + pause * Self.second
      var copy = books
      for _ in 0..<10 { #expect(copy.fail(1, now: later).wait == nil) }
      #expect(copy.fail(1, now: later).wait == .seconds(6))
    }
    // One second short of it, the tenth token is missing.
    for _ in 0..<9 { _ = books.fail(1, now: Self.start + 59 * Self.second) }
    #expect(books.fail(1, now: Self.start + 59 * Self.second).wait == .seconds(1))
  }

  @Test("a peer's failures concern nobody else")
  func peers() {
    var books = Self.books(after: 20)
    #expect(books.fail(2, now: Self.start).wait == nil)
  }

  @Test("the log is told at once, then once a minute, with the number of failures in between")
  func log() {
    var books = FailureBooks<Int>()
    #expect(books.fail(1, now: Self.start).told == 1)
    #expect(books.fail(1, now: Self.start).told == nil)
    #expect(books.fail(1, now: Self.start + 60 * Self.second - 1).told == nil)
    #expect(books.fail(2, now: Self.start + 60 * Self.second - 1).told == 1)
    #expect(books.fail(1, now: Self.start + 60 * Self.second).told == 3)
    #expect(books.fail(1, now: Self.start + 61 * Self.second).told == nil)
  }

  @Test("any number of peers takes no more than two generations; the young one's are remembered")
  func bound() {
    var books = Self.books(after: 10, peersMax: 100)
    for peer in 2..<101 { _ = books.fail(peer, now: Self.start) }
    #expect(books.count == 100)
    _ = books.fail(101, now: Self.start)
    // A failure makes it young again, so the next change of generations does not forget it.
    #expect(books.fail(1, now: Self.start).wait != nil)
    for peer in 102..<10_000 {
      _ = books.fail(peer, now: Self.start)
      #expect(books.count <= 200)
    }
    #expect(books.fail(1, now: Self.start).wait == nil)
  }
}

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
    // Of a thread that has paused the first failure is some seconds old; ``FailureBooksTests`` has a clock of its own.
    let wait = refusal?.fields[.retryAfter].flatMap { Int($0) }
    #expect(wait.map { (1...6).contains($0) } == (isTurnedAway ? true : nil))
    #expect(lines.all.map(\.metadata) == [["proof": "secret", "peer": name, "count": "1"]])
  }
}

@Suite("What a user may ask")
struct ClientRequestsTests {
  /// Three tokens, and none for an hour.
  private static let requests = ClientRequests(rate: .init(burst: 30, refillNanoseconds: 3_600_000_000_000))

  private static func status(_ load: ClientRequests.Load, of user: String, _ requests: ClientRequests) -> Int? {
    do throws(ProblemDetails) {
      try requests.begin(load, of: user)
      return nil
    } catch {
      #expect(error.fields[.retryAfter].flatMap { Int($0) }.map { $0 > 0 } == true)
      return error.status.code
    }
  }

  @Test("a user who has asked as often as may be is told when to come again; others are not concerned")
  func bucket() {
    let (requests, user) = (Self.requests, UUID().uuidString)
    for _ in 0..<5 { #expect(Self.status(.look, of: user, requests) == nil) }
    #expect(Self.status(.documentWrite, of: user, requests) == nil)
    #expect(Self.status(.look, of: user, requests) == 429)
    #expect(Self.status(.documentWrite, of: UUID().uuidString, requests) == nil)
  }

  @Test("what is refused costs nothing")
  func refused() {
    let (requests, user) = (Self.requests, UUID().uuidString)
    #expect(Self.status(.documentWrite, of: user, requests) == nil)
    for _ in 0..<3 { #expect(Self.status(.documentWrite, of: user, requests) == 429) }
    for _ in 0..<5 { #expect(Self.status(.look, of: user, requests) == nil) }
    #expect(Self.status(.look, of: user, requests) == 429)
  }

  @Test("one write of a user is under way at a time; other users go on, and the next write after it")
  func exclusive() throws {
    let (requests, user) = (ClientRequests(), UUID().uuidString)
    try requests.beginWrite(of: user)
    let refusal = #expect(throws: ProblemDetails.self) { try requests.beginWrite(of: user) }
    #expect(refusal?.status == .tooManyRequests && refusal?.fields[.retryAfter] == "1")
    try requests.beginWrite(of: UUID().uuidString)
    requests.endWrite(of: user)
    try requests.beginWrite(of: user)
  }
}
