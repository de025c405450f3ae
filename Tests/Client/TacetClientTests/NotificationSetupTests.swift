import Foundation
import Synchronization
import Testing

@testable import TacetClient

/// Notes what is registered.
final class MockRegistry: CategoryRegistry {
  private let state = Mutex<[[SlotConfiguration.Category]]>([])

  var registered: [[SlotConfiguration.Category]] { state.withLock { $0 } }

  func register(_ categories: [SlotConfiguration.Category]) async { state.withLock { $0.append(categories) } }
}

@Suite("Categories of notifications")
struct NotificationCategoriesTests {
  private static let document = """
    {"flags":{},"channels":[],"categories":[{"id":"TERRAIN_RITUAL","actions":[
    {"id":"DID_THIS","title":"Did This","options":[]},
    {"id":"START_RITUAL","title":"Start Ritual","options":["foreground"]}]}]}
    """
  private let registry = MockRegistry()
  private let store = MemoryStore()

  private func categories(_ transport: MockTransport) -> NotificationCategories {
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: transport, token: { "t" }, sleep: { _ in })
    return NotificationCategories(client, registry: registry, store: store)
  }

  @Test("are registered as the service says, and again without a network after a restart")
  func register() async throws {
    let transport = MockTransport([.status(200, fields: ["ETag": "\"a\""], content: Self.document), .status(304)])
    let first = categories(transport)
    #expect(await first.refresh() == nil)
    #expect(await first.opensApp("START_RITUAL", of: "TERRAIN_RITUAL") == true)
    #expect(await first.opensApp("DID_THIS", of: "TERRAIN_RITUAL") == false)
    #expect(await first.opensApp("DID_THIS", of: "OTHER") == nil)
    #expect(await categories(transport).refresh() == nil)
    #expect(transport.asked.map(\.tag) == [nil, "\"a\""])
    let offline = categories(MockTransport([.nothing, .nothing, .nothing]))
    #expect(await offline.refresh()?.code == .unreachable)
    #expect(registry.registered.map { $0.map(\.id) } == Array(repeating: ["TERRAIN_RITUAL"], count: 3))
    #expect(registry.registered[0] == registry.registered[2])
  }

  @Test(
    "nothing is registered before the first answer, and rubbish in the store is no answer", arguments: [nil, "{", "[]"])
  func nothing(stored: String?) async {
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: MockTransport([.status(401)]), token: { "t" },
      sleep: { _ in })
    let categories = NotificationCategories(client, registry: registry, store: MemoryStore(stored))
    #expect(await categories.refresh()?.code == .unauthorized)
    #expect(registry.registered.isEmpty)
  }

  @Test("what the system cannot show is cut", arguments: [(4, 64), (5, 65)])
  func bounds(actions: Int, titleLength: Int) async throws {
    let title = String(repeating: "x", count: titleLength)
    let list = (0..<actions).map { #"{"id":"A\#($0)","title":"\#(title)","options":[]}"# }.joined(separator: ",")
    let many = Array(repeating: #"{"id":"C","actions":[\#(list)]}"#, count: 65).joined(separator: ",")
    let document = #"{"flags":{},"channels":[],"categories":[\#(many)]}"#
    await categories(MockTransport([.status(200, content: document)])).refresh()
    let registered = try #require(registry.registered.first)
    #expect(registered.count == 64)
    #expect(registered[0].actions.count == 4 && registered[0].actions[0].title.count == 64)
  }
}

/// A user who answers the system's question.
private final class MockUser: AuthorizationCenter {
  private let state: Mutex<(status: DeviceRegistration.Authorization, asked: [AuthorizationOptions])>
  private let answer: DeviceRegistration.Authorization

  init(_ status: DeviceRegistration.Authorization, answers answer: DeviceRegistration.Authorization) {
    state = Mutex((status, []))
    self.answer = answer
  }

  var asked: [AuthorizationOptions] { state.withLock { $0.asked } }

  func authorization() async -> DeviceRegistration.Authorization { state.withLock { $0.status } }

  func request(_ options: AuthorizationOptions) async {
    state.withLock {
      $0.asked.append(options)
      $0.status = answer
    }
  }
}

@Suite("Permission to notify")
struct NotificationPermissionTests {
  private let transport = MockTransport()
  private let device = DeviceRegistration(
    deviceToken: Data([0xAA]), app: nil, platform: nil, locale: nil, timeZone: nil)

  private func permission(_ user: MockUser) -> NotificationPermission {
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: transport, token: { "t" }, sleep: { _ in })
    return NotificationPermission(client, center: user)
  }

  @Test("a registration reports it without a question")
  func register() async throws {
    let user = MockUser(.notDetermined, answers: .authorized)
    #expect(try await permission(user).register(device) == .notDetermined)
    #expect(user.asked.isEmpty)
    #expect(transport.asked.map(\.content) == [#"{"authorization":"not_determined"}"#])
  }

  @Test(
    "the user is asked while it can help, and the answer is registered",
    arguments: [
      (.notDetermined, .standard, 1), (.notDetermined, [.alert], 1), (.provisional, .standard, 0),
      (.provisional, [.alert, .sound], 1), (.authorized, .standard, 0), (.denied, .standard, 0),
    ] as [(DeviceRegistration.Authorization, AuthorizationOptions, Int)])
  func ask(status: DeviceRegistration.Authorization, options: AuthorizationOptions, count: Int) async throws {
    let user = MockUser(status, answers: .authorized)
    let result = try await permission(user).ask(registering: device, options)
    #expect(user.asked == Array(repeating: options, count: count))
    #expect(result == (count == 0 ? status : .authorized))
    #expect(transport.asked.map(\.content) == [#"{"authorization":"\#(result.rawValue)"}"#])
  }

  @Test("without a device token the answer waits for the next registration")
  func noToken() async throws {
    let user = MockUser(.notDetermined, answers: .denied)
    #expect(try await permission(user).ask(registering: nil) == .denied)
    #expect(transport.lines.isEmpty)
  }

  @Test("the standard options are alert, badge, sound, provisional and the app's own settings")
  func standard() {
    #expect(
      AuthorizationOptions.standard == [.alert, .badge, .sound, .provisional, .providesAppNotificationSettings])
    #expect(AuthorizationOptions.standard.rawValue == 31)
  }
}
