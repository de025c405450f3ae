import Foundation
import Testing

@testable import TacetClient

@Suite("Tokens of Live Activities")
struct ActivityTokensTests {
  private let sleeps = ManualSleep()
  private let device = Data([0xAA])

  private func client(_ transport: MockTransport) -> PushServiceClient {
    PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: transport, token: { "t" }, sleep: { _ in })
  }

  private func tokens(_ transport: MockTransport) -> ActivityTokens {
    ActivityTokens(client(transport), environment: .sandbox, app: "com.example.app") { [sleeps] in
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
    let contents = try transport.asked.map { try JSON(Data(($0.content ?? "").utf8)) }
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
    sleeps.open()
    await tokens.use(deviceToken: device)
    await tokens.take(updateToken: Data([1]), ofActivity: "a")
    await tokens.take(updateToken: Data([2]), ofActivity: "a")
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
    try await client(transport).announceActivity(
      "run", of: "WorkoutActivityAttributes", attributes: workout, state: ["heartRate": 0])
    try await client(transport).removeStartToken(of: "A", deviceToken: device)
    #expect(transport.lines == ["PUT /v1/live-activities/run", "DELETE /v1/devices/aa/push-to-start/A"])
    let content = try JSON(Data(try #require(transport.asked[0].content).utf8))
    #expect(content["type"] == .string("WorkoutActivityAttributes"))
    #expect(content["attributes"]?["startTime"] == .string("2026-11-22T07:30:00Z"))
    let error = await #expect(throws: PushServiceError.self) {
      try await client(transport).announceActivity("x", of: "A", attributes: ["a": Double.nan], state: ["b": 0])
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
