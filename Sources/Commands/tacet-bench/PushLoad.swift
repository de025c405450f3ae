import Channels
import PushRules
import Reactors

/// Keeps a number of pushes in flight until all are sent.
final class PushLoad {
  /// As in the service.
  private static let limit = Duration.seconds(10)

  private let series: PushSeries
  private let channel: any APNSSender
  private let concurrency: Int
  private var numbers = 0..<0
  private var books = LoadBooks()
  private var failure: PushRequestError?
  private var senders = 0
  private let end = Signal()

  init(_ series: PushSeries, over channel: any APNSSender, concurrency: Int) {
    self.series = series
    self.channel = channel
    self.concurrency = concurrency
  }

  /// Sends the pushes with these numbers.
  func send(_ numbers: Range<Int>, on reactor: isolated Reactor) async throws -> LoadBooks {
    self.numbers = numbers
    books = LoadBooks()
    senders = min(concurrency, numbers.count)
    for _ in 0..<senders {
      reactor.start {
        await self.sendUntilNoneIsLeft(on: reactor)
        self.senders -= 1
        if self.senders == 0 { self.end.signal(on: reactor) }
      }
    }
    _ = await end.wait(on: reactor)
    if let failure { throw failure }
    return books
  }

  private func sendUntilNoneIsLeft(on reactor: isolated Reactor) async {
    do throws(PushRequestError) {
      while let number = numbers.popFirst() {
        let start = Reactor.now
        let request = try series.request(number)
        books.record(
          await channel.send(
            request, over: series.route, until: Reactor.now &+ Self.limit.clampedNanoseconds, permit: nil, on: reactor))
        books.latencies.record(from: start, to: Reactor.now)
      }
    } catch {
      failure = error
    }
  }
}

/// The outcomes of a load's pushes.
struct LoadBooks: Sendable {
  /// Answers by their status.
  private(set) var statuses: [Int: Int] = [:]
  /// Pushes without an answer, by their reason.
  private(set) var failures: [String: Int] = [:]
  var latencies = LatencyHistogram()

  var lost: Int { failures.values.reduce(0, +) }

  mutating func record(_ outcome: APNSOutcome) {
    if case .answered(let answer) = outcome {
      statuses[answer.status, default: 0] += 1
    } else {
      failures[outcome.reason ?? "none", default: 0] += 1
    }
  }
}
