import Foundation
import Synchronization
import Testing

@testable import TacetClient

@Suite("Reports that wait")
struct TelemetryQueueTests {
  private let date = Date(timeIntervalSince1970: 1_795_330_800)

  private func reports(_ count: Int) -> [TelemetryQueue.Report] {
    (0..<count).map { number in
      switch number % 3 {
      case 0: .event(SlotEvent(.armed, slot: "0800", identifier: "ritual.0800.2026-11-22", due: date))
      case 1: .action(SlotAction("DID_THIS", of: "ritual.0800.2026-11-22", at: date))
      default: .opened(UUID())
      }
    }
  }

  /// The ids that the service has got, with repetitions.
  private func ids(_ transport: MockTransport) throws -> [String] {
    try transport.asked.flatMap { asked -> [String] in
      guard asked.content != nil else { return [String(asked.line.dropFirst(16).prefix(36))] }
      let document = try asked.json
      return document["events"]?.list?.compactMap { $0["id"]?.text } ?? [document["id"]?.text ?? ""]
    }
  }

  @Test("a process that dies at any write loses nothing that was stored", arguments: 1...8)
  func death(writes: Int) async throws {
    let store = MemoryStore()
    let transport = MockTransport()
    store.die(after: writes)
    let queue = TelemetryQueue(PushServiceClient(transport), store: store)
    for report in reports(6) { await queue.add([report]) }
    await queue.flush()
    store.revive()
    let next = TelemetryQueue(PushServiceClient(transport), store: store)
    await next.flush()
    #expect(await next.count == 0)
    // A report that is sent twice has the same id.
    #expect(Set(try ids(transport)).count == 6)
  }

  @Test("the device token is added when events are sent, and is not stored")
  func deviceToken() async throws {
    let store = MemoryStore()
    let transport = MockTransport()
    let queue = TelemetryQueue(PushServiceClient(transport), store: store) { Data([0xAB, 0xCD]) }
    await queue.add([SlotEvent(.armed, slot: "0800", deviceToken: Data([0xEE]))])
    let stored = String(decoding: try #require(store.load("telemetry")), as: UTF8.self)
    #expect(!stored.contains("device_token"))
    await queue.flush()
    #expect(try #require(transport.asked.first?.content).contains(#""device_token":"abcd""#))
  }

  @Test(
    "an action or an opened push that the service refuses is dropped, and another failure keeps it",
    arguments: [(400, 0), (403, 0), (404, 0), (422, 0), (401, 2), (429, 2), (503, 2)])
  func refusals(status: Int, left: Int) async {
    let answers = Array(repeating: MockTransport.Answer.status(status), count: 6)
    let queue = TelemetryQueue(PushServiceClient(MockTransport(answers)), store: MemoryStore())
    await queue.add(Array(reports(3).dropFirst()))
    await queue.flush()
    #expect(await queue.count == left)
  }

  /// A queue that calls something when it asks for the device token.
  private func queue(
    _ transport: MockTransport, whenAsked action: @escaping @Sendable (TelemetryQueue) async -> Void
  ) -> TelemetryQueue {
    let box = Mutex<TelemetryQueue?>(nil)
    let queue = TelemetryQueue(PushServiceClient(transport), store: MemoryStore()) {
      if let queue = box.withLock({ $0 }) { await action(queue) }
      return nil
    }
    box.withLock { $0 = queue }
    return queue
  }

  @Test("an action that comes while events are sent is sent too")
  func late() async {
    let transport = MockTransport()
    let action = SlotAction("DID_THIS", of: "ritual.0800.2026-11-22", at: date)
    let queue = queue(transport) { await $0.add([.action(action)]) }
    await queue.add([SlotEvent(.armed, slot: "0800")])
    await queue.flush()
    #expect(transport.lines == ["POST /v1/telemetry", "POST /v1/actions"])
  }

  @Test("a log-out while events are collected sends none")
  func logOut() async {
    let transport = MockTransport()
    let queue = queue(transport) { queue in
      // The log-out waits for the flush, which waits for this.
      Task { await queue.clear() }
      while await queue.count > 0 { await Task.yield() }
    }
    await queue.add([SlotEvent(.armed, slot: "0800")])
    await queue.flush()
    #expect(transport.lines.isEmpty)
  }

  @Test("an event that no request can hold does not hold up the others")
  func hugeEvent() async {
    let transport = MockTransport([.status(413)])
    let queue = TelemetryQueue(PushServiceClient(transport), store: MemoryStore())
    await queue.add([SlotEvent(.armed, slot: String(repeating: "0", count: 70_000)), SlotEvent(.armed, slot: "0800")])
    await queue.flush()
    #expect(await queue.count == 0)
    #expect(transport.lines.count == 2)
  }

  @Test("what was cut short or overwritten is read as far as it is whole")
  func corruption() async throws {
    let store = MemoryStore()
    let queue = TelemetryQueue(PushServiceClient(MockTransport()), store: store)
    await queue.add(reports(3))
    let document = try #require(store.load("telemetry"))
    for length in 0..<document.count {
      let cut = MemoryStore(String(decoding: document.prefix(length), as: UTF8.self))
      #expect(await TelemetryQueue(PushServiceClient(MockTransport()), store: cut).count == 0)
    }
    var list = try #require(try JSON(document).list)
    list[1] = .object(["event": .object(["id": .number(1)])])
    let mixed = MemoryStore(String(decoding: try JSON.array(list).data, as: UTF8.self))
    #expect(await TelemetryQueue(PushServiceClient(MockTransport()), store: mixed).count == 2)
  }

  @Test("reports are as they were after a restart")
  func restart() async throws {
    let (store, transport) = (MemoryStore(), MockTransport([.nothing, .nothing, .nothing]))
    var event = SlotEvent(.scheduleDenied, slot: "2000", due: date)
    (event.date, event.attempt, event.networkState, event.appState, event.zoneOffset) = (
      date, 3, .offline, .killed, -570
    )
    let queue = TelemetryQueue(PushServiceClient(transport), store: store)
    await queue.add([event])
    await queue.flush()
    await TelemetryQueue(PushServiceClient(transport), store: store).flush()
    let sent = try transport.asked.map { try $0.json }
    #expect(sent.count == 4 && Set(sent).count == 1)
    #expect(sent[0]["events"]?.list?.first?["tzOffset"] == .number(-570))
  }
}

@Suite("Documents as files")
struct FileStoreTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tacet-\(UUID().uuidString)")

  @Test("a document is replaced and removed")
  func documents() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = FileStore(folder: folder)
    #expect(store.load("a") == nil)
    try store.save(nil, as: "a")
    try store.save(Data("1".utf8), as: "a")
    try store.save(Data("22".utf8), as: "a")
    #expect(FileStore(folder: folder).load("a") == Data("22".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
    try store.save(nil, as: "a")
    #expect(store.load("a") == nil)
  }

  @Test(
    "a file that is too large is no document", arguments: [(FileStore.bytesMax, true), (FileStore.bytesMax + 1, false)])
  func size(byteCount: Int, isRead: Bool) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = FileStore(folder: folder)
    try store.save(Data(count: byteCount), as: "a")
    #expect((store.load("a") != nil) == isRead)
  }

  @Test("a folder that cannot be made is an error, and nothing is read")
  func noFolder() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data().write(to: folder)
    let store = FileStore(folder: folder)
    #expect(throws: (any Error).self) { try store.save(Data(), as: "a") }
    #expect(store.load("a") == nil)
  }
}

@Suite("Times of actions")
struct SlotActionTests {
  @Test("survive writing and reading to the millisecond")
  func milliseconds() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for index in 0..<1000 as Range<UInt64> {
      let date = Date(timeIntervalSince1970: 1_795_330_800 + Double((seed &+ index &* 7919) % 10_000_000) / 10_000)
      let first = try JSONEncoder().encode(SlotAction("OPEN", of: "daily.0800.2026-11-22", at: date, id: UUID()))
      let second = try JSONEncoder().encode(JSONDecoder().decode(SlotAction.self, from: first))
      #expect(try JSON(first) == JSON(second), "seed \(seed)")
    }
  }
}

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
    TelemetryQueue(PushServiceClient(server), store: store) { token }
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
