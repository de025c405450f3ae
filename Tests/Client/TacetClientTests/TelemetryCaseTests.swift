import Foundation
import Testing

@testable import TacetClient

@Suite("Shared cases of telemetry")
struct TelemetryCaseTests {
  @Test("events are queued as in every client", arguments: SharedCase.all("telemetry-cases"))
  func telemetry(shared: SharedCase) async throws {
    let run = TelemetryRun(shared.given)
    for (index, step) in shared.steps.enumerated() { try await run.take(step, "step \(index + 1)") }
  }
}

/// A queue that takes the steps of one case.
private final class TelemetryRun {
  private let server = CaseServer()
  private let store: MemoryStore
  private let token: Data
  private var queue: TelemetryQueue

  init(_ given: JSON) {
    store = MemoryStore(given["stored"]?.text)
    token = Data(repeating: 0xAB, count: given["token_bytes"]?.number ?? 32)
    queue = Self.start(server, store, token)
  }

  private static func start(_ server: CaseServer, _ store: MemoryStore, _ token: Data) -> TelemetryQueue {
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: server, token: { "t" }, sleep: { _ in })
    return TelemetryQueue(client, store: store) { token }
  }

  func take(_ step: JSON, _ place: Comment) async throws {
    server.script(["": step["server"] ?? .object(["status": .number(200)])])
    switch step["do"]?.text {
    case "record": await queue.add(try events(step))
    case "flush", "online": await queue.flush()
    case "flush_twice":
      let queue = queue
      async let first: Void = queue.flush()
      async let second: Void = queue.flush()
      _ = await (first, second)
    case "restart": queue = Self.start(server, store, token)
    case "clear": await queue.clear()
    default: Issue.record("unknown step")
    }
    try await check(#require(step["expect"]), place)
  }

  private func check(_ expect: JSON, _ place: Comment) async throws {
    let batches = server.asked.map { ($0.content?["events"]?.list ?? []).compactMap { Self.number(of: $0) } }
    if let expected = expect["batches"]?.list {
      #expect(batches == expected.map { Array(Self.range($0.text)) }, place)
    }
    if let count = expect["batches_min"]?.number { #expect(batches.count >= count, place) }
    if let bytes = expect["bytes_max"]?.number { #expect(server.asked.allSatisfy { $0.byteCount <= bytes }, place) }
    if let queued = expect["queued"]?.number { #expect(await queue.count == queued, place) }
  }

  private func events(_ step: JSON) throws -> [SlotEvent] {
    try Self.range(step["events"]?.text).map { number in
      var event = SlotEvent(.delivered, slot: "0800", identifier: "ritual.0800.2026-11-22")
      let digits = String(repeating: "0", count: 12 - String(number).count) + String(number)
      event.id = try #require(UUID(uuidString: "00000000-0000-4000-8000-\(digits)"))
      if let at = step["at"]?.text { event.date = SharedCase.instant(at) }
      return event
    }
  }

  private static func range(_ text: String?) -> ClosedRange<Int> {
    let ends = (text ?? "").split(separator: "-").compactMap { Int($0) }
    guard ends.count == 2 else { preconditionFailure("no range of events") }
    return ends[0]...ends[1]
  }

  private static func number(of event: JSON) -> Int? { event["id"]?.text.flatMap { Int($0.suffix(12)) } }
}
