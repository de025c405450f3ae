import Foundation
import Testing

@testable import tacet_bench

@Suite("The books of a run")
struct RunBooksTests {
  private static let phone = DeviceKey(bits: 1)
  private static let tablet = DeviceKey(bits: 2)
  /// A conversation with one recipient, and one with two.
  private static let recipients: [Set<DeviceKey>] = [[phone], [phone, tablet]]

  /// Committed a millisecond after it was sent.
  private func message(_ conversation: Int = 0, committed milliseconds: UInt64) -> SentMessage {
    let committed = milliseconds * 1_000_000
    return SentMessage(id: UUID(), conversation: conversation, sent: committed - 1_000_000, committed: committed)
  }

  /// - Parameter burst: the message whose notification it goes into; nil for its own.
  private func accepted(
    _ message: SentMessage, _ device: DeviceKey = phone, into burst: SentMessage? = nil, identifier: String = "",
    at milliseconds: UInt64
  ) -> Acceptance {
    Acceptance(
      message: message.id, burst: (burst ?? message).id, identifier: identifier, device: device,
      moment: milliseconds * 1_000_000)
  }

  private func makeBooks(
    _ messages: [SentMessage], _ acceptances: [Acceptance], folded: [SentMessage] = [],
    isCounted: (Int) -> Bool = { _ in true }
  ) -> RunBooks {
    RunBooks(
      messages, isCounted: isCounted, recipients: Self.recipients, acceptances: acceptances,
      folded: Dictionary(uniqueKeysWithValues: folded.map { ($0.id, [Self.phone]) }))
  }

  /// Histograms keep three digits.
  private func isClose(_ value: Double, _ expected: Double) -> Bool { abs(value - expected) <= expected / 500 }

  @Test("latencies count from the commit, and from the insert's departure")
  func latencies() throws {
    let message = message(committed: 10)
    let books = makeBooks([message], [accepted(message, at: 13)])
    #expect(isClose(books.accepted.milliseconds(at: 50), 3))
    #expect(isClose(books.commit.milliseconds(at: 50), 1))
    #expect(books.figures["pushes"] == 1)
    #expect(books.figures["followers"] == nil)
    try books.check()
  }

  @Test("a push accepted before the commit's answer was read counts nothing")
  func early() {
    let message = message(committed: 10)
    let books = makeBooks([message], [accepted(message, at: 9)])
    #expect(books.accepted.count == 1)
    #expect(books.accepted.millisecondsMax == 0)
  }

  @Test("the order in which pushes come does not matter")
  func order() {
    let messages = [message(committed: 10), message(1, committed: 11)]
    let acceptances = [
      accepted(messages[0], at: 30), accepted(messages[1], Self.tablet, at: 31), accepted(messages[1], at: 41),
    ]
    for acceptances in [acceptances, acceptances.reversed()] {
      let books = makeBooks(messages, acceptances)
      #expect(books.accepted.count == 3)
      #expect(books.messages == 2)
      #expect(books.lastAcceptance == 41_000_000)
    }
  }

  @Test("a message without a push is lost, and the run with it")
  func lost() {
    let messages = [message(committed: 10), message(1, committed: 10)]
    let books = makeBooks(messages, [accepted(messages[1], at: 12)])
    #expect(books.lost == 2)
    #expect(throws: BenchError("2 pushes of 2 messages were lost")) { try books.check() }
  }

  @Test("a folded message is told with the next push of its conversation, and is not lost")
  func folded() throws {
    let messages = [10, 20, 30, 40].map { message(committed: $0) }
    let pushes = [
      accepted(messages[0], at: 11), accepted(messages[2], into: messages[0], at: 34),
      accepted(messages[3], into: messages[0], at: 41),
    ]
    let books = makeBooks(messages, pushes, folded: [messages[1]])
    try books.check()
    #expect(books.accepted.count == 3)
    #expect(books.followers.count == 2)
    #expect(books.folded.count == 1)
    #expect(isClose(books.folded.millisecondsMax, 14))
    #expect(books.completed(in: 0..<34_000_000) == 1)
    #expect(books.completed(in: 0..<34_000_001) == 3)
    #expect(isClose(books.longestWait(after: 0), 14))
    #expect(isClose(books.longestWait(after: 33_000_000), 1))
  }

  @Test("a message that is folded for one recipient and lacks another's push is lost")
  func foldedForOne() {
    let message = message(1, committed: 10)
    #expect(makeBooks([message], [], folded: [message]).lost == 1)
    #expect(makeBooks([message], [accepted(message, Self.tablet, at: 11)], folded: [message]).lost == 0)
  }

  @Test("a push that comes twice counts once, from the first time")
  func repeated() throws {
    let message = message(committed: 10)
    let books = makeBooks([message], [accepted(message, at: 12), accepted(message, at: 50)])
    #expect(books.repeated == 1)
    #expect(books.doubled == 0)
    #expect(isClose(books.accepted.millisecondsMax, 2))
    try books.check()
  }

  @Test("a push that comes twice as something else is shown twice, and fails the run", arguments: [false, true])
  func doubled(isInAnother: Bool) {
    let messages = [message(committed: 5), message(committed: 10)]
    let again =
      isInAnother ? accepted(messages[1], into: messages[0], at: 50) : accepted(messages[1], identifier: "b", at: 50)
    let books = makeBooks(messages, messages.map { accepted($0, at: 12) } + [again])
    #expect(books.doubled == 1)
    #expect(books.repeated == 0)
    #expect(throws: BenchError("1 messages were shown twice")) { try books.check() }
  }

  @Test("the same message on two devices is nothing doubled")
  func devices() {
    let message = message(1, committed: 10)
    let books = makeBooks([message], [accepted(message, at: 12), accepted(message, Self.tablet, at: 12)])
    #expect(books.doubled + books.repeated == 0)
    #expect(books.accepted.count == 2)
  }

  @Test("a push to a device of nobody in the conversation fails the run")
  func misdirected() {
    let message = message(committed: 10)
    let books = makeBooks([message], [accepted(message, at: 12), accepted(message, Self.tablet, at: 12)])
    #expect(books.misdirected == 1)
    #expect(throws: BenchError.self) { try books.check() }
  }

  @Test("pushes of messages that are not this run's are set aside")
  func foreign() throws {
    let message = message(committed: 10)
    let books = makeBooks([message], [accepted(message, at: 12), accepted(self.message(committed: 5), at: 99)])
    #expect(books.accepted.count == 1)
    #expect(books.lastAcceptance == 12_000_000)
    try books.check()
  }

  @Test("the warm-up does not count, but what it completes in the span does")
  func warmUp() {
    let messages = [message(committed: 10), message(committed: 20), message(committed: 30)]
    let acceptances = zip(messages, [20, 29, 40] as [UInt64]).map { accepted($0, at: $1) }
    let books = makeBooks(messages, acceptances) { $0 > 0 }
    #expect(books.messages == 2)
    #expect(books.accepted.count == 2)
    #expect(books.completed(in: 20_000_000..<40_000_000) == 2)
    #expect(books.completed(in: 20_000_001..<40_000_001) == 2)
    #expect(books.completed(in: 20_000_000..<40_000_001) == 3)
  }

  @Test("a message is complete with its last push, and not before")
  func completion() {
    let message = message(1, committed: 10)
    let span: Range<UInt64> = 0..<20_000_000
    let half = [accepted(message, at: 12)]
    #expect(makeBooks([message], half).completed(in: span) == 0)
    #expect(makeBooks([message], half + [accepted(message, Self.tablet, at: 19)]).completed(in: span) == 1)
    #expect(makeBooks([message], half + [accepted(message, Self.tablet, at: 20)]).completed(in: span) == 0)
  }
}

@Suite("A device's key")
struct DeviceKeyTests {
  @Test("is the first sixteen digits of its token, whatever their case")
  func key() throws {
    let key = try #require(DeviceKey(token: "00ff00000000Abcd" + "1234"))
    #expect(key.bits == 0x00ff_0000_0000_abcd)
    #expect(DeviceKey(token: "00FF00000000aBCD") == key)
  }

  @Test(
    "needs sixteen hexadecimal digits",
    arguments: ["", "00ff", "00ff00000000abc", "00ff00000000abcg", "-0ff00000000abcx"])
  func refused(token: String) {
    #expect(DeviceKey(token: token) == nil)
  }
}

@Suite("A histogram of latencies")
struct LatencyHistogramTests {
  @Test("has no latency when it is empty")
  func empty() {
    #expect(LatencyHistogram().figures("accepted", [50, 99]) == ["accepted_p50_ms": 0, "accepted_p99_ms": 0])
    #expect(LatencyHistogram().millisecondsMax == 0)
  }

  @Test("keeps three digits", arguments: [1_000, 123_456, 3_141_592, 59_999_999_999] as [UInt64])
  func digits(nanoseconds: UInt64) {
    var histogram = LatencyHistogram()
    histogram.record(nanoseconds: nanoseconds)
    let error = histogram.milliseconds(at: 50) * 1e6 / Double(nanoseconds) - 1
    // A microsecond is ten of the least that it tells apart.
    #expect(abs(error) <= (nanoseconds == 1_000 ? 0.1 : 0.002))
  }

  @Test("names its figures after their percentile")
  func figures() {
    var histogram = LatencyHistogram()
    for millisecond in 1...100 as ClosedRange<UInt64> { histogram.record(nanoseconds: millisecond * 1_000_000) }
    let figures = histogram.figures("commit", [50, 99]).mapValues { $0.rounded() }
    #expect(figures == ["commit_p50_ms": 50, "commit_p99_ms": 99])
    #expect(histogram.millisecondsMax.rounded() == 100)
  }

  @Test("takes what is longer than it can tell for the longest")
  func longest() {
    var histogram = LatencyHistogram()
    histogram.record(nanoseconds: .max)
    #expect((600_000...601_000).contains(histogram.millisecondsMax))
  }

  @Test("an end before its start is no time", arguments: [(5, 5), (5, 4), (.max, 0)] as [(UInt64, UInt64)])
  func backwards(start: UInt64, end: UInt64) {
    var histogram = LatencyHistogram()
    histogram.record(from: start, to: end)
    #expect(histogram.count == 1)
    #expect(histogram.millisecondsMax == 0)
  }
}
