import Foundation
import Testing

@testable import TacetClient

@Suite("Calls of an app, beside the shared cases")
struct PushServiceClientTests {
  @Test("a call is below the origin's path, with the user's token")
  func origin() async throws {
    let transport = MockTransport()
    try await PushServiceClient(transport, origin: "https://example.com/push/").active()
    #expect(transport.lines == ["POST /push/v1/activity"] && transport.asked[0].authorization == "Bearer t")
  }

  @Test(
    "an error says what the service said, and whether the call may succeed later",
    arguments: [("7", Duration.seconds(7), false), ("-3", nil, false), ("7", .seconds(7), true)])
  func failures(retryAfter: String, pause: Duration?, isTemporary: Bool) async throws {
    let problem = #"{"type":"about:blank","title":"No","status":1,"detail":"because","field":"app"}"#
    let status = isTemporary ? 503 : 400
    let answer = MockTransport.Answer.status(status, fields: ["Retry-After": retryAfter], content: problem)
    let client = PushServiceClient(MockTransport([answer, answer, answer]))
    let error = try #require(await #expect(throws: PushServiceError.self) { try await client.active() })
    #expect(error.status == status && error.detail == "because" && error.field == "app")
    #expect(error.retryAfter == pause && error.isTemporary == isTemporary)
  }

  @Test("a response has 1 MiB at most", arguments: [(1 << 20, false), (1 << 20 + 1, true)])
  func size(byteCount: Int, isRefused: Bool) async throws {
    let transport = MockTransport([.status(200, content: String(repeating: " ", count: byteCount))])
    var error: PushServiceError?
    do { try await PushServiceClient(transport).active() } catch let thrown { error = thrown }
    #expect((error?.code == .refused) == isRefused)
  }
}

@Suite("Presence of an app's user")
struct PresenceTests {
  private let surface = Surface(kind: "question", id: UUID())
  private let sleeps = ManualSleep()

  private func client(_ transport: MockTransport) -> PushServiceClient { PushServiceClient(transport, sleeps: sleeps) }

  private func line(_ method: String, _ surface: Surface) -> String {
    "\(method) /v1/surfaces/question/\(surface.id.uuidString.lowercased())/last-seen"
  }

  /// Ends the sleep that is to come before the next report.
  private func beat(_ transport: MockTransport) async {
    let count = transport.lines.count
    let waker = Task {
      while !Task.isCancelled {
        sleeps.wake()
        await Task.yield()
      }
    }
    await transport.wait(for: count + 1)
    waker.cancel()
    await waker.value
  }

  @Test("it is reported again and again while the task runs, and then that the user left")
  func lifecycle() async throws {
    let transport = MockTransport([.status(204), .nothing, .status(503)])
    let client = client(transport)
    let task = Task { try await client.stayPresent(at: surface, every: .seconds(15)) }
    await transport.wait(for: 1)
    await beat(transport)
    await beat(transport)
    await beat(transport)
    task.cancel()
    try await task.value
    let looks = transport.lines.dropLast()
    #expect(looks.count >= 4 && looks.allSatisfy { $0 == line("PUT", surface) })
    #expect(transport.lines.last == line("DELETE", surface))
    #expect(sleeps.asked.allSatisfy { $0 == .seconds(15) })
  }

  @Test("a refusal that will not change ends it", arguments: [403, 404])
  func refused(status: Int) async throws {
    let transport = MockTransport([.status(204), .status(status)])
    let client = client(transport)
    sleeps.open()
    await #expect(throws: PushServiceError.self) { try await client.stayPresent(at: surface) }
    #expect(transport.lines == [line("PUT", surface), line("PUT", surface), line("DELETE", surface)])
  }

  @Test("a token that is not valid does not end it: the next report has a new one")
  func renewed() async throws {
    let transport = MockTransport([.status(401), .status(401)])
    let client = client(transport)
    let task = Task { try await client.stayPresent(at: surface) }
    await transport.wait(for: 1)
    await beat(transport)
    await beat(transport)
    task.cancel()
    try await task.value
    #expect(transport.lines.count >= 4)
  }

  @Test("who comes back while the leaving is on its way is reported after it", .timeLimit(.minutes(5)))
  func order() async throws {
    let transport = MockTransport([.status(204), .status(503)])
    let reporter = PresenceReporter(client(transport))
    await reporter.show(surface)
    await transport.wait(for: 1)
    await reporter.show(nil)
    await transport.wait(for: 2)
    await reporter.show(surface)
    await beat(transport)
    await transport.wait(for: 4)
    #expect(
      transport.lines.prefix(4) == [
        line("PUT", surface), line("DELETE", surface), line("DELETE", surface), line("PUT", surface),
      ])
  }

  @Test("a surface that two views show is left when the last of them is gone")
  func together() async throws {
    let transport = MockTransport()
    let client = client(transport)
    let first = Task { try await client.stayPresent(at: surface) }
    let second = Task { try await client.stayPresent(at: surface) }
    await transport.wait(for: 2)
    first.cancel()
    try await first.value
    #expect(!transport.lines.contains(line("DELETE", surface)))
    second.cancel()
    try await second.value
    #expect(transport.lines.last == line("DELETE", surface))
  }

  @Test("what was refused is reported again when it is shown again", .timeLimit(.minutes(5)))
  func refusedThenShown() async throws {
    let transport = MockTransport([.status(403)])
    let reporter = PresenceReporter(client(transport))
    await reporter.show(surface)
    await transport.wait(for: 2)
    while transport.lines.count < 3 {
      await reporter.show(surface)
      await Task.yield()
    }
    #expect(transport.lines.prefix(3) == [line("PUT", surface), line("DELETE", surface), line("PUT", surface)])
  }

  @Test("a task that is cancelled before it begins reports nothing but the leaving")
  func cancelledAtOnce() async throws {
    let transport = MockTransport()
    let client = client(transport)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await client.stayPresent(at: surface)
    }
    try await task.value
    #expect(transport.lines == [line("DELETE", surface)])
  }

  @Test("one surface is shown at a time; nothing is shown when the app is away")
  func reporter() async throws {
    let other = Surface(kind: "question", id: UUID())
    let transport = MockTransport()
    let reporter = PresenceReporter(client(transport))
    await reporter.show(surface)
    await transport.wait(for: 1)
    await reporter.show(surface)
    await reporter.show(other)
    await transport.wait(for: 3)
    await reporter.show(nil)
    await transport.wait(for: 4)
    #expect(transport.lines.first == line("PUT", surface))
    #expect(Set(transport.lines) == Set([surface, other].flatMap { [line("PUT", $0), line("DELETE", $0)] }))
    #expect(transport.lines.count == 4)
  }

  @Test("who forgets the reporter has left")
  func forgotten() async throws {
    let transport = MockTransport()
    var reporter: PresenceReporter? = PresenceReporter(client(transport))
    await reporter?.show(surface)
    await transport.wait(for: 1)
    reporter = nil
    await transport.wait(for: 2)
    #expect(transport.lines == [line("PUT", surface), line("DELETE", surface)])
  }
}

@Suite("Tokens of Live Activities")
struct ActivityTokensTests {
  private let sleeps = ManualSleep()
  private let device = Data([0xAA])

  private func tokens(_ transport: MockTransport) -> ActivityTokens {
    ActivityTokens(PushServiceClient(transport), environment: .sandbox, app: "com.example.app") { [sleeps] in
      try await sleeps.sleep($0)
    }
  }

  @Test("each token is reported once, and again when it has changed")
  func changes() async throws {
    let transport = MockTransport()
    let tokens = tokens(transport)
    await tokens.use(deviceToken: device)
    for token in [1, 1, 2, 2] as [UInt8] {
      await tokens.take(startToken: Data([token]), of: "WorkoutActivityAttributes")
      await tokens.take(updateToken: Data([token]), ofActivity: "meal-17")
      await tokens.settle()
    }
    let start = "PUT /v1/devices/aa/push-to-start/WorkoutActivityAttributes"
    let update = "PUT /v1/live-activities/meal-17/token"
    #expect(transport.lines.sorted() == [start, start, update, update])
    let contents = try transport.asked.map { try $0.json }
    let place: [String: JSON] = ["environment": .string("sandbox"), "app": .string("com.example.app")]
    let expected = ["01", "02"].flatMap { token -> [JSON] in
      let body = place.merging(["token": .string(token)]) { $1 }
      return [.object(body), .object(body.merging(["device_token": .string("aa")]) { $1 })]
    }
    #expect(Set(contents) == Set(expected))
  }

  @Test("tokens wait for the device token, and another one reports them again")
  func deviceToken() async {
    let transport = MockTransport()
    let tokens = tokens(transport)
    await tokens.take(startToken: Data([1]), of: "A")
    await tokens.settle()
    #expect(transport.lines.isEmpty)
    await tokens.use(deviceToken: device)
    await tokens.settle()
    await tokens.use(deviceToken: device)
    await tokens.use(deviceToken: Data([0xBB]))
    await tokens.settle()
    #expect(transport.lines == ["PUT /v1/devices/aa/push-to-start/A", "PUT /v1/devices/bb/push-to-start/A"])
  }

  @Test("a failure that passes is repeated with growing pauses, with the newest token")
  func retries() async throws {
    let transport = MockTransport(Array(repeating: .status(503), count: 12) + [.status(401)])
    let tokens = tokens(transport)
    await tokens.use(deviceToken: device)
    await tokens.take(updateToken: Data([1]), ofActivity: "a")
    await tokens.take(updateToken: Data([2]), ofActivity: "a")
    sleeps.open()
    sleeps.wake()
    await tokens.settle()
    #expect(sleeps.asked == [15, 30, 60, 60, 60].map { .seconds($0) })
    #expect(transport.lines.count == 14)
    #expect(try #require(transport.asked.last?.content).contains(#""token":"02""#))
  }

  @Test("a refusal is final for a token", arguments: [400, 403, 404])
  func refusal(status: Int) async {
    let transport = MockTransport([.status(status)])
    let tokens = tokens(transport)
    await tokens.use(deviceToken: device)
    for token in [1, 1, 2] as [UInt8] {
      await tokens.take(updateToken: Data([token]), ofActivity: "a")
      await tokens.settle()
    }
    #expect(transport.lines.count == 2)
    #expect(sleeps.asked.isEmpty)
  }

  @Test("after a log-out nothing is reported, and after an end neither")
  func ends() async {
    let transport = MockTransport()
    let tokens = tokens(transport)
    await tokens.take(updateToken: Data([1]), ofActivity: "a")
    await tokens.take(updateToken: Data([1]), ofActivity: "b")
    await tokens.end(activity: "a")
    await tokens.use(deviceToken: device)
    await tokens.settle()
    #expect(transport.lines == ["PUT /v1/live-activities/b/token"])
    await tokens.clear()
    await tokens.take(updateToken: Data([2]), ofActivity: "b")
    await tokens.settle()
    #expect(transport.lines.count == 1)
  }

  @Test("a token has 1 to 256 bytes", arguments: [(0, 0), (1, 1), (256, 1), (257, 0)])
  func length(byteCount: Int, requests: Int) async {
    let transport = MockTransport()
    let tokens = tokens(transport)
    await tokens.use(deviceToken: device)
    await tokens.take(startToken: Data(count: byteCount), of: "A")
    await tokens.settle()
    #expect(transport.lines.count == requests)
  }

  private struct Workout: Encodable {
    let workoutType: String
    let startTime: Date
  }

  @Test("an activity of the app is announced, with dates as text, and starts are ended")
  func calls() async throws {
    let transport = MockTransport()
    let workout = Workout(workoutType: "Run", startTime: Date(timeIntervalSince1970: 1_795_332_600))
    try await PushServiceClient(transport).announceActivity(
      "run", of: "WorkoutActivityAttributes", attributes: workout, state: ["heartRate": 0])
    try await PushServiceClient(transport).removeStartToken(of: "A", deviceToken: device)
    #expect(transport.lines == ["PUT /v1/live-activities/run", "DELETE /v1/devices/aa/push-to-start/A"])
    let content = try transport.asked[0].json
    #expect(content["type"] == .string("WorkoutActivityAttributes"))
    #expect(content["attributes"]?["startTime"] == .string("2026-11-22T07:30:00Z"))
    let error = await #expect(throws: PushServiceError.self) {
      try await PushServiceClient(transport).announceActivity(
        "x", of: "A", attributes: ["a": Double.nan], state: ["b": 0])
    }
    #expect(error?.code == .refused)
  }

  @Test(
    "an id is one segment of the path",
    arguments: [("a/b", "a%2Fb"), ("a?b#c", "a%3Fb%23c"), ("50%", "50%25"), ("ä", "%C3%A4"), ("a b", "a%20b")])
  func segments(id: String, segment: String) throws {
    let request = ServiceRequest(method: "PUT", path: ["v1", "live-activities", id, "token"])
    for origin in ["https://h", "https://h/", "https://h/push/"] {
      let url = request.url(at: try #require(URL(string: origin)))
      #expect(url.absoluteString.hasSuffix("/v1/live-activities/\(segment)/token"))
    }
  }
}
