import Channels
import PushRules
import Reactors

/// Keeps a number of pushes in flight until all are sent.
final class PushLoad {
  /// The attempts of a push. With the waits between them they cover half a minute of an outage.
  private static let attemptsMax = 8

  /// The time limit of one attempt, as in the service.
  private static let attemptLimit = Duration.seconds(10)

  private let series: PushSeries
  private let channel: any APNSSender
  private let concurrency: Int
  private let retryWait: Duration
  private var numbers = 0..<0
  private var books = LoadBooks()
  private var failure: PushRequestError?
  private var senders = 0
  private let end = Signal()

  /// - Parameter retryWait: the wait before the second attempt; it doubles. A lane of the service waits as long.
  init(
    _ series: PushSeries, over channel: any APNSSender, concurrency: Int, retryWait: Duration = .milliseconds(500)
  ) {
    self.series = series
    self.channel = channel
    self.concurrency = concurrency
    self.retryWait = retryWait
  }

  /// Sends the pushes with these numbers.
  func send(_ numbers: Range<Int>, on reactor: isolated Reactor) async throws -> LoadBooks {
    self.numbers = numbers
    books = LoadBooks()
    senders = min(concurrency, numbers.count)
    for _ in 0..<senders {
      reactor.start {
        await self.sendUntilNoneIsLeft(on: reactor)
        self.senderEnded(on: reactor)
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
        let attempt = await handOver(request, on: reactor)
        if !books.record(attempt) { await resend(request, on: reactor) }
        books.latencies.record(from: start, to: Reactor.now)
      }
    } catch {
      failure = error
    }
  }

  private func senderEnded(on reactor: isolated Reactor) {
    senders -= 1
    if senders == 0 { end.signal(on: reactor) }
  }

  private func handOver(_ request: APNSRequest, on reactor: isolated Reactor) async -> APNSOutcome {
    let deadline = Reactor.now &+ Self.attemptLimit.clampedNanoseconds
    return await channel.send(request, over: series.route, until: deadline, permit: nil, on: reactor)
  }

  private func resend(_ request: APNSRequest, on reactor: isolated Reactor) async {
    for attempt in 1..<Self.attemptsMax {
      books.resends += 1
      await reactor.sleep(for: retryWait * (1 << (attempt - 1)))
      let outcome = await handOver(request, on: reactor)
      if books.record(outcome) { return }
    }
    books.lost += 1
  }
}

/// The outcomes of a load's pushes.
struct LoadBooks: Sendable {
  /// Final answers by their status.
  private(set) var statuses: [Int: Int] = [:]
  /// Attempts without a final answer, by their reason.
  private(set) var failures: [String: Int] = [:]
  /// From the start of the first attempt to the end of the last.
  var latencies = LatencyHistogram()
  var resends = 0
  var lost = 0

  /// Records an attempt.
  /// - Returns: whether its answer is final. Otherwise the service would retry.
  mutating func record(_ attempt: APNSOutcome) -> Bool {
    if case .answered(let answer) = attempt, attempt.isFinal {
      statuses[answer.status, default: 0] += 1
      return true
    }
    failures[attempt.reason ?? "none", default: 0] += 1
    return false
  }
}

extension APNSOutcome {
  fileprivate var isFinal: Bool {
    switch disposition {
    case .retryLater, .reconnect, .refreshProviderToken: false
    default: true
    }
  }
}
