import Foundation
import Testing

@testable import TacetClient

@Suite("Shared cases of schedules")
struct ScheduleCaseTests {
  @Test("a schedule is kept as in every client", arguments: SharedCase.all("schedule-cases"))
  func schedule(shared: SharedCase) async throws {
    let run = try ScheduleRun(shared.given)
    for (index, step) in shared.steps.enumerated() { try await run.take(step, "step \(index + 1)") }
  }
}

/// A device that takes the steps of one case.
private final class ScheduleRun {
  private let device: ManualDevice
  private let server = CaseServer()
  private let store: MemoryStore
  private var queue: TelemetryQueue
  private var keeper: ScheduleKeeper
  private var error: PushServiceError.Code?

  init(_ given: JSON) throws {
    device = ManualDevice(at: SharedCase.instant(try #require(given["now"]?.text)))
    store = MemoryStore(given["stored"]?.text)
    (queue, keeper) = Self.start(server, device, store)
    device.held = SharedCase.identifiers(given["pending"])
    try set(given)
  }

  private static func start(
    _ server: CaseServer, _ device: ManualDevice, _ store: MemoryStore
  ) -> (TelemetryQueue, ScheduleKeeper) {
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: server, token: { "t" }, sleep: { _ in })
    let queue = TelemetryQueue(client, store: store) { Data([0xAB]) }
    return (queue, ScheduleKeeper(client, scheduler: device, queue: queue, store: store, clock: device.clock))
  }

  private func set(_ circumstances: JSON) throws {
    if let text = circumstances["at"]?.text { device.now = SharedCase.instant(text) }
    if let name = circumstances["zone"]?.text { device.zone = try #require(TimeZone(identifier: name)) }
    if let word = circumstances["permission"]?.text {
      device.permission = try #require(DeviceRegistration.Authorization(rawValue: word))
    }
    let gone = SharedCase.identifiers(circumstances["pending_gone"])
    device.held.removeAll(where: gone.contains)
    device.take(circumstances["arm_denied_after"]?.number ?? .max, then: .denied)
  }

  func take(_ step: JSON, _ place: Comment) async throws {
    try set(step)
    server.script([
      "schedule": step["server"]?["schedule"] ?? .string("offline"),
      "telemetry": step["server"]?["telemetry"] ?? .object(["status": .number(200)]),
    ])
    error = nil
    try await perform(#require(step["do"]?.text))
    try await check(#require(step["expect"]), place)
  }

  private func perform(_ word: String) async throws {
    switch word {
    case "keep": do { try await keeper.keep() } catch { self.error = error.code }
    case "trigger":
      let wasWaiting = await keeper.isWaiting
      await keeper.trigger()
      if await keeper.isWaiting, !wasWaiting { await device.waitForSleeper() }
    case "pass": if device.wakeDue() > 0 { await keeper.settle() }
    case "clear": await keeper.clear()
    case "restart": (queue, keeper) = Self.start(server, device, store)
    default: Issue.record("unknown step \(word)")
    }
  }

  private func check(_ expect: JSON, _ place: Comment) async throws {
    let changes = device.changes()
    #expect(changes.armed.map(\.identifier) == SharedCase.identifiers(expect["armed"]), place)
    #expect(changes.cancelled.sorted() == SharedCase.identifiers(expect["cancelled"]).sorted(), place)
    for (identifier, instant) in expect["armed_at"]?.members ?? [:] {
      let date = changes.armed.first { $0.identifier == identifier }?.date
      #expect(date == instant.text.map(SharedCase.instant), place)
    }
    #expect(error == expect["error"]?.text.map(CallCaseTests.code), place)
    if let reads = expect["reads"]?.list {
      #expect(server.asked.filter { $0.line.contains("/v1/schedule") }.map(\.tag) == reads.map(\.text), place)
    }
    if let sent = expect["sent"]?.list { #expect(self.sent == sent.map(\.text), place) }
    if let queued = expect["queued"]?.number { #expect(await queue.count == queued, place) }
    if let pending = expect["pending"] {
      #expect(device.held.sorted() == SharedCase.identifiers(pending).sorted(), place)
    }
  }

  /// The code and the identifier of each event that the service has taken.
  private var sent: [String?] {
    let reports = server.asked.filter { $0.isAnswered && $0.line == "POST /v1/telemetry" }
    let events: [JSON] = reports.flatMap { $0.content?["events"]?.list ?? [] }
    return events.map { event in
      guard event["device_token"]?.text == "ab", let code = event["code"]?.text else { return nil }
      return event["identifier"]?.text.map { "\(code) \($0)" } ?? code
    }
  }
}
