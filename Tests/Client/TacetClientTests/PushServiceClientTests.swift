import Foundation
import Testing

@testable import TacetClient

@Suite("Calls of an app")
struct PushServiceClientTests {
  private static let id = "0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11"
  private let uuid = UUID(uuidString: Self.id)!
  private let sleeps = ManualSleep()

  private func client(_ transport: MockTransport, origin: String = "https://push.example.com") -> PushServiceClient {
    PushServiceClient(origin: URL(string: origin)!, transport: transport, token: { "t0ken" }) { [sleeps] in
      try await sleeps.sleep($0)
    }
  }

  @Test("each call is one request, with the user's token")
  func requests() async throws {
    let transport = MockTransport([
      .status(200), .status(204), .status(200, content: #"{"read":2,"badge":5}"#),
      .status(200, content: #"{"badge":0,"read":0,"later":true}"#),
    ])
    let client = client(transport, origin: "https://example.com/push/")
    let device = DeviceRegistration(
      deviceToken: Data([0x00, 0xAB, 0x0C]), environment: .sandbox, app: "com.example.app", platform: "ios",
      locale: "de-AT", timeZone: "Europe/Vienna")
    try await client.register(device)
    try await client.removeDevice(token: Data([0xFF, 0x01]))
    let receipt = try await client.markRead(conversation: uuid, upTo: uuid, deviceToken: Data([0x0A]))
    #expect(receipt.read == 2 && receipt.badge == 5)
    try await client.markRead(conversation: uuid)
    try await client.opened(uuid)
    try await client.active()
    try await client.look(at: .conversation(uuid))
    try await client.leave(Surface(kind: "question", id: uuid))
    #expect(
      transport.lines == [
        "PUT /push/v1/devices/00ab0c", "DELETE /push/v1/devices/ff01", "POST /push/v1/conversations/\(Self.id)/read",
        "POST /push/v1/conversations/\(Self.id)/read", "POST /push/v1/pushes/\(Self.id)/opened",
        "POST /push/v1/activity",
        "PUT /push/v1/conversations/\(Self.id)/last-seen", "DELETE /push/v1/surfaces/question/\(Self.id)/last-seen",
      ])
    #expect(Set(transport.asked.map(\.authorization)) == ["Bearer t0ken"])
    let contents = transport.asked.map(\.content).map { $0.map(members) }
    #expect(
      contents[0] == [
        "environment": "sandbox", "app": "com.example.app", "platform": "ios", "locale": "de-AT",
        "time_zone": "Europe/Vienna",
      ])
    #expect(contents[2] == ["up_to_message_id": Self.id, "device_token": "0a"])
    #expect(contents[3] == [:])
    #expect([contents[1], contents[4], contents[5], contents[6], contents[7]] == [nil, nil, nil, nil, nil])
  }

  private func members(_ text: String) -> [String: String] {
    (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? ["": text]
  }

  @Test(
    "an answer says what the app can do about it",
    arguments: [
      (400, PushServiceError.Code.refused, false), (401, .unauthorized, false), (403, .forbidden, false),
      (404, .notFound, false), (405, .refused, false), (408, .unavailable, true), (413, .refused, false),
      (415, .refused, false), (429, .unavailable, true), (500, .unavailable, true), (503, .unavailable, true),
    ])
  func failures(status: Int, code: PushServiceError.Code, isTemporary: Bool) async throws {
    let problem = #"{"type":"about:blank","title":"No","status":1,"detail":"because","field":"app"}"#
    let answer = MockTransport.Answer.status(status, fields: ["Retry-After": "7"], content: problem)
    let transport = MockTransport([answer, answer, answer])
    sleeps.open()
    let error = await #expect(throws: PushServiceError.self) { try await client(transport).opened(uuid) }
    #expect(error?.code == code)
    #expect(error?.status == status && error?.detail == "because" && error?.field == "app")
    #expect(error?.retryAfter == .seconds(7))
    #expect(error?.isTemporary == isTemporary)
    #expect(transport.lines.count == (isTemporary ? 3 : 1))
    #expect(sleeps.asked == (isTemporary ? [.seconds(7), .seconds(7)] : []))
  }

  @Test("what fails for a while is tried again, with growing pauses")
  func retries() async throws {
    let transport = MockTransport([.nothing, .status(503)])
    sleeps.open()
    try await client(transport).opened(uuid)
    #expect(transport.lines.count == 3)
    #expect(sleeps.asked == [.milliseconds(500), .seconds(1)])
  }

  @Test(
    "a pause is never shorter than the service asks, and nonsense asks for nothing", arguments: ["soon", "-3", "0"])
  func nonsense(retryAfter: String) async throws {
    let transport = MockTransport([.status(503, fields: ["Retry-After": retryAfter])])
    sleeps.open()
    try await client(transport).opened(uuid)
    #expect(sleeps.asked == [.milliseconds(500)])
  }

  @Test("a pause is bounded, however long the service asks for")
  func patience() async throws {
    let transport = MockTransport([.status(503, fields: ["Retry-After": "3600"])])
    sleeps.open()
    try await client(transport).opened(uuid)
    #expect(sleeps.asked == [.seconds(10)])
  }

  @Test("an answer that is no receipt is refused")
  func receipt() async throws {
    let transport = MockTransport([.status(200, content: "<html>")])
    let error = await #expect(throws: PushServiceError.self) {
      try await client(transport).markRead(conversation: uuid)
    }
    #expect(error?.code == .refused)
  }

  @Test("a response has 1 MiB at most", arguments: [(1 << 20, false), (1 << 20 + 1, true)])
  func size(byteCount: Int, isRefused: Bool) async throws {
    let transport = MockTransport([.status(200, content: String(repeating: " ", count: byteCount))])
    var error: PushServiceError?
    do { try await client(transport).active() } catch let thrown { error = thrown }
    #expect((error?.code == .refused) == isRefused)
  }

  @Test("without a token nothing is asked")
  func noToken() async throws {
    let transport = MockTransport()
    sleeps.open()
    let client = PushServiceClient(
      origin: URL(string: "http://h")!, transport: transport, token: { throw URLError(.userAuthenticationRequired) }
    ) { [sleeps] in
      try await sleeps.sleep($0)
    }
    let error = await #expect(throws: PushServiceError.self) { try await client.opened(uuid) }
    #expect(error?.code == .noToken)
    #expect(transport.lines == [])
  }
}
