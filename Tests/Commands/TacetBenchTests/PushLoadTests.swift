import Channels
import PushRules
import Reactors
import TestReactors
import Testing

@testable import tacet_bench

@Suite("A load of pushes")
struct PushLoadTests {
  @Test("every push of the range is sent once")
  func once() async throws {
    try await onReactor { reactor in
      let channel = MockChannel()
      let books = try await makeLoad(over: channel).send(10..<15, on: reactor)
      #expect(books.statuses == [200: 5])
      #expect(books.latencies.count == 5)
      #expect(channel.identifiers.count == 5)
      #expect(Set(channel.identifiers).count == 5)
    }
  }

  @Test("as many are in flight as the concurrency says, and never more", arguments: [1, 3, 8])
  func concurrency(_ limit: Int) async throws {
    try await onReactor { reactor in
      let channel = MockChannel()
      _ = try await makeLoad(over: channel, concurrency: limit).send(0..<40, on: reactor)
      #expect(channel.inFlightMax == limit)
    }
  }

  @Test("a push without a final answer is sent again with the same identifier")
  func resend() async throws {
    try await onReactor { reactor in
      let channel = MockChannel([.failed(.unknown(cause: "")), .answered(PushAnswer(status: 503))])
      let books = try await makeLoad(over: channel).send(0..<1, on: reactor)
      #expect(books.statuses == [200: 1])
      #expect(books.failures == ["apns_answer_lost": 1, "http_503": 1])
      #expect(books.resends == 2)
      #expect(books.lost == 0)
      #expect(channel.identifiers.count == 3)
      #expect(Set(channel.identifiers).count == 1)
    }
  }

  @Test("a push that has no final answer after eight attempts is lost", arguments: [(7, 0), (8, 1)])
  func lost(failures: Int, lost: Int) async throws {
    try await onReactor { reactor in
      let channel = MockChannel(Array(repeating: .failed(.notProcessed(cause: "")), count: failures))
      let books = try await makeLoad(over: channel).send(0..<1, on: reactor)
      #expect(books.lost == lost)
      #expect(books.resends == 7)
      #expect(channel.identifiers.count == 8)
    }
  }

  @Test("at a rate, pushes are not sent before they are due")
  func rate() async throws {
    try await onReactor { reactor in
      let start = Reactor.now
      let books = try await makeLoad(over: MockChannel()).send(0..<21, rate: 1000, on: reactor)
      #expect(Reactor.now - start >= 20_000_000)
      #expect(books.latencies.count == 21)
    }
  }

  private func makeLoad(over channel: MockChannel, concurrency: Int = 2) throws -> PushLoad {
    let series = try PushSeries(to: ["00ff"], ofApp: BundleIdentifier("com.example.app"))
    return PushLoad(series, over: channel, concurrency: concurrency, retryWait: .microseconds(1))
  }
}

/// Follows its script, then accepts everything; answers in the tick after the push.
private final class MockChannel: PushChannel {
  private var script: [PushAttempt]
  private var inFlight = 0
  private(set) var inFlightMax = 0
  private(set) var identifiers: [PushIdentifier] = []

  init(_ script: [PushAttempt] = []) {
    self.script = script.reversed()
  }

  func send(
    _ request: PushRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> PushAttempt {
    identifiers.append(request.head.identifier)
    inFlight += 1
    inFlightMax = max(inFlightMax, inFlight)
    await reactor.sleep(for: .nanoseconds(1))
    inFlight -= 1
    return script.popLast() ?? .answered(PushAnswer(status: 200))
  }
}

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
    let noted = books.record(.answered(PushAnswer(status: status, reason: reason)))
    #expect(noted == isFinal)
    #expect(books.statuses == (isFinal ? [status: 1] : [:]))
    #expect(books.failures.values.reduce(0, +) == (isFinal ? 0 : 1))
  }

  @Test("an attempt without an answer is counted by what the ledger would say")
  func failures() {
    var books = LoadBooks()
    let failures = [TransportFailure.unknown(cause: "reset"), .unknown(cause: "lost"), .notProcessed(cause: "refused")]
    for failure in failures {
      let isFinal = books.record(.failed(failure))
      #expect(!isFinal)
    }
    #expect(books.failures == ["apns_answer_lost": 2, "apns_unreachable": 1])
  }
}
