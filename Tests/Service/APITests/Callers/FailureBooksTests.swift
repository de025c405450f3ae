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
