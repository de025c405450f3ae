import Foundation
import HTTPTypes
import Reactors
import TestLogs
import Testing

@testable import Simulators

@Suite("The control endpoint of the simulated FCM", .timeLimit(.minutes(5)))
struct FCMControlRoutesTests {
  private static let token = "a:APA91b"
  private static let message = #"{"message":{"token":"a:APA91b","notification":{"title":"Ann"}}}"#

  private static let path = "/v1/projects/demo/messages:send"

  /// Runs a test against a simulator with a project, an access token `ok` and a device.
  private static func run(_ test: (Asker) async throws -> Void) async throws {
    try await Asker.run { asker in
      try await asker.order(.put, "/projects/demo", "{}")
      try await asker.order(.post, "/bearers", #"{"token":"ok"}"#)
      try await asker.order(.put, "/tokens/\(token)", "{}")
      try await test(asker)
    }
  }

  @Test("accepted and refused messages are recorded, in pages and by token")
  func records() async throws {
    try await Self.run { asker in
      for body in [Self.message, "{", Self.message] { _ = try await asker.send(Self.path, body) }
      let all = try await asker.control(.get, "/messages")
      let records = try #require(all.json["messages"] as? [[String: Any]])
      #expect(records.compactMap { $0["status"] as? Int } == [200, 400, 200])
      #expect(records.compactMap { $0["number"] as? Int } == [1, 2, 3])
      #expect(records[0]["payload"] as? String == Self.message)
      #expect(records[0]["priority"] as? String == "HIGH")
      #expect(records[1]["reason"] as? String == "INVALID_ARGUMENT")
      let page = try await asker.control(.get, "/messages?after=1&limit=1")
      #expect(page.json["next"] as? Int == 2)
      let own = try await asker.control(.get, "/messages?token=\(Self.token)")
      #expect((own.json["messages"] as? [Any])?.count == 2)
      try await asker.order(.delete, "/messages")
      #expect(asker.simulator.service.messages.isEmpty)
    }
  }

  @Test("a script waits for messages instead of sleeping, and not in vain")
  func waiting() async throws {
    try await Self.run { asker in
      _ = try await asker.send(Self.path, Self.message)
      #expect(try await asker.control(.get, "/messages/wait?count=1").json["total"] as? Int == 1)
      #expect(try await asker.control(.get, "/messages/wait?count=2&timeout_ms=1").status == 408)
      #expect(try await asker.control(.get, "/messages/wait").status == 400)
      #expect(await asker.simulator.waitForMessages(1, within: .seconds(60)))
    }
  }

  @Test("an access token ends with the simulated clock", arguments: [(3_000_000, 200), (3_599_000, 401)])
  func clock(_ milliseconds: Int, _ status: Int) async throws {
    try await Self.run { asker in
      try await asker.order(.post, "/clock", #"{"advance_ms":\#(milliseconds)}"#)
      #expect(try await asker.send(Self.path, Self.message).status == status)
    }
  }

  @Test("a token expires after 270 days without a connection, and registering it again revives it")
  func inactivity() async throws {
    try await Self.run { asker in
      for (days, status) in [(269, 200), (270, 404), (0, 200)] {
        try await asker.order(.put, "/tokens/\(Self.token)", #"{"inactive_days":\#(days)}"#)
        #expect(try await asker.send(Self.path, Self.message).status == status)
      }
      try await asker.order(.delete, "/tokens/\(Self.token)")
      #expect(try await asker.send(Self.path, Self.message).status == 404)
      try await asker.order(.post, "/conduct", #"{"accept_any_token":true}"#)
      #expect(try await asker.send(Self.path, Self.message).status == 200)
    }
  }

  @Test("faults skip and hit as many requests as ordered, of their endpoint, in order")
  func faults() async throws {
    try await Self.run { asker in
      let orders = [
        #"{"kind":"answer","status":503,"error_status":"UNAVAILABLE","skip":1,"times":2,"retry_after":"7"}"#,
        #"{"kind":"answer","endpoint":"token","status":500,"raw_body":"x"}"#,
        #"{"kind":"drop_before"}"#, #"{"kind":"quota"}"#, #"{"kind":"delay","delay_ms":1}"#,
      ]
      for order in orders { try await asker.order(.post, "/faults", order) }
      #expect(try await asker.waitingFaults() == 5)
      var statuses: [Int?] = []
      for _ in 0..<6 { statuses.append(try? await asker.send(Self.path, Self.message).status) }
      // A hang-up on a kept connection makes libcurl send again, which is the next request.
      #expect(statuses == [200, 503, 503, 429, 200, 200] || statuses == [200, 503, 503, nil, 429, 200])
      #expect(try await asker.waitingFaults() == 1)
      try await asker.order(.delete, "/faults")
    }
  }

  @Test(
    "an order that makes no sense is refused, and the mistake named",
    arguments: [
      ("/faults", #"{"kind":"answer"}"#, "status is missing"), ("/faults", #"{"kind":"delay"}"#, "delay_ms is missing"),
      ("/faults", #"{"kind":"answer","status":199}"#, "status is a number"), ("/faults", "{}", "kind is missing"),
      ("/faults", #"{"kind":"silence","delay_ms":1}"#, "delay_ms means nothing to silence"),
      ("/faults", #"{"kind":"quota","endpoint":"token"}"#, "quota is for send"),
      ("/faults", #"{"kind":"delay","delay_ms":1,"times":0}"#, "times is a number from 1"),
      ("/faults", #"{"kind":"quota","retry_after":"a\nb"}"#, "retry_after"),
      ("/faults", #"{"kind":"quota","skipp":1}"#, "skipp is none of"),
      ("/tokens/a:APA91b", #"{"online":7}"#, "online has the wrong type"), ("/accounts", "{}", "is missing"),
      ("/accounts", #"{"client_email":"a","project_id":"p","private_key_id":"k","private_key":"x"}"#, "private_key"),
      ("/bearers", #"{"token":"a","expires_in":99999999}"#, "expires_in is a number"),
      ("/clock", #"{"advance_ms":9223372036854775807}"#, "moves the clock by a century at most"),
      ("/conduct", #"{"delay_ms":-1}"#, "delay_ms"),
    ])
  func mistakes(_ path: String, _ body: String, _ text: String) async throws {
    try await Self.run { asker in
      let answer = try await asker.control(.post, path, body)
      #expect(answer.status == 400)
      #expect(answer.text.contains(text), "\(answer.text)")
    }
  }

  @Test("what is unknown is not found")
  func unknown() async throws {
    try await Self.run { asker in
      let unknown = try await asker.control(.get, "/tokens/b:APA91b")
      #expect(unknown.status == 404)
      #expect(try await asker.control(.delete, "/tokens/b:APA91b").status == 404)
      #expect(try await asker.control(.post, "/tokens/b:APA91b", #"{"online":true}"#).status == 404)
      #expect(try await asker.control(.put, "/tokens/b", "{}").status == 400)
      #expect(try await asker.send("/v1/projects/other/messages:send", Self.message).status == 404)
      #expect(try await asker.send("/a/b/c/d/e/f", Self.message).text.contains("<html"))
    }
  }

  @Test("content that is nested as deeply as the parser allows is judged", arguments: [500, 600])
  func depth(_ levels: Int) async throws {
    try await Self.run { asker in
      let nested = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      let answer = try await asker.send(Self.path, #"{"message":{"apns":{"payload":{"a":\#(nested)}}}}"#)
      #expect(answer.status == 400)
      #expect(answer.text.contains(levels == 500 ? "Recipient" : "Expected an object"))
    }
  }

  @Test("stopping ends the requests that are never answered")
  func silence() async throws {
    try await Self.run { asker in
      try await asker.order(.post, "/faults", #"{"kind":"silence"}"#)
      async let answer = try? asker.send(Self.path, Self.message)
      while try await asker.waitingFaults() > 0 {}
      await asker.simulator.stop()
      #expect(await answer?.status == nil)
    }
  }
}

/// A simulator, and a client that asks it anything.
struct Asker: Sendable {
  let simulator: FCMSimulator
  private let client: SimulatorClient

  static func run(_ test: (Asker) async throws -> Void) async throws {
    var configuration = FCMSimulatorConfiguration()
    configuration.logger = RunLogs.logger
    try await SimulatorClient.run(
      { try await FCMSimulator.start(configuration, on: $0) }, stop: { await $0.stop() }
    ) { try await test(Asker(simulator: $0, client: $1)) }
  }

  func control(
    _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
  ) async throws -> SimulatorClient.Answer {
    try #require(await client.send(method, simulator.control + path, [:], body.map { Array($0.utf8) }))
  }

  /// An order that must succeed.
  func order(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws {
    let answer = try await control(method, path, body)
    #expect(answer.status == 204, "\(path): \(answer.text)")
  }

  func send(_ path: String, _ body: String) async throws -> SimulatorClient.Answer {
    struct NoAnswer: Error {}
    let answer = await client.send(
      .post, simulator.origin + path, [.authorization: "Bearer ok"], Array(body.utf8))
    guard let answer else { throw NoAnswer() }
    return answer
  }

  /// Faults that have not hit all their requests.
  func waitingFaults() async throws -> Int {
    (try await control(.get, "/faults").json["waiting"] as? [Any])?.count ?? -1
  }
}

@Suite("Simulated Android devices")
struct SimulatedDeviceTests {
  private static func device(isOnline: Bool = true) -> SimulatedDevice {
    var device = SimulatedDevice(project: "p", lastActiveAt: 0)
    device.setOnline(isOnline, now: 0)
    return device
  }

  private static func message(_ members: String) throws -> MessageInquiry {
    try MessageInquiry(Array(#"{"message":{"token":"a:APA91b",\#(members)}}"#.utf8))
  }

  private static func data(_ key: String? = nil, ttl: Int = 60) throws -> MessageInquiry {
    let key = key.map { #","collapse_key":"\#($0)""# } ?? ""
    return try message(#""data":{"a":"b"},"android":{"ttl":"\#(ttl)s"\#(key)}"#)
  }

  private static func notification(tag: String? = nil) throws -> MessageInquiry {
    let tag = tag.map { #","android":{"notification":{"tag":"\#($0)"}}"# } ?? ""
    return try message(#""notification":{"title":"Ann"}\#(tag)"#)
  }

  @Test("an online device gets messages at once")
  func online() throws {
    var device = Self.device()
    device.receive(try Self.data(ttl: 0), name: "1", now: 5)
    #expect(device.delivered.map(\.atMilliseconds) == [5])
  }

  @Test("an offline device gets what has not expired", arguments: [(0, 0, false), (1, 999, true), (1, 1000, false)])
  func expiry(_ ttl: Int, _ milliseconds: Int64, _ isDelivered: Bool) throws {
    var device = Self.device(isOnline: false)
    device.receive(try Self.data(ttl: ttl), name: "1", now: 0)
    #expect(device.delivered.isEmpty)
    device.setOnline(true, now: milliseconds)
    #expect(device.delivered.map(\.name) == (isDelivered ? ["1"] : []))
    #expect(device.lastActiveAt == milliseconds)
  }

  @Test("the burst of 20 notifications fills again, one in 3 minutes; data has no such limit")
  func burst() throws {
    var device = Self.device()
    for number in 0..<22 { device.receive(try Self.notification(), name: "\(number)", now: 0) }
    #expect(device.delivered.suffix(3).map(\.atMilliseconds) == [0, 180_000, 360_000])
    device.receive(try Self.notification(), name: "later", now: 540_000)
    #expect(device.delivered.last?.atMilliseconds == 540_000)
    for number in 0..<50 { device.receive(try Self.data(), name: "d\(number)", now: 0) }
    #expect(device.delivered.suffix(50).allSatisfy { $0.atMilliseconds == 0 })
  }

  @Test("notifications of one tag are one on the screen, and those without a tag are one each")
  func screen() throws {
    var device = Self.device()
    for (number, tag) in ["a", "a", "b", nil, nil].enumerated() {
      device.receive(try Self.notification(tag: tag), name: "\(number)", now: 0)
    }
    device.receive(try Self.data(), name: "data", now: 0)
    #expect(device.shownCount == 4)
    #expect(device.delivered.count == 6)
  }

  @Test("notifications without a collapse key collapse with each other while the device is offline")
  func collapsible() throws {
    var device = Self.device(isOnline: false)
    device.receive(try Self.notification(), name: "1", now: 0)
    device.receive(try Self.notification(), name: "2", now: 0)
    device.setOnline(true, now: 1)
    #expect(device.delivered.map(\.name) == ["2"])
  }

  @Test("a fifth collapse key evicts one, and data without a key does not count")
  func keys() throws {
    var device = Self.device(isOnline: false)
    for (number, key) in ["a", "b", nil, "c", "d", "a", "e"].enumerated() {
      device.receive(try Self.data(key), name: "\(number)", now: 0)
    }
    #expect(device.waitingCount == 5)
    device.setOnline(true, now: 1)
    #expect(device.delivered.map(\.name) == ["2", "3", "4", "5", "6"])
  }
}
