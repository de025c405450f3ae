import Foundation
import Synchronization
import Testing

@testable import TacetClient

@Suite("What users do with notifications")
struct NotificationResponderTests {
  private let transport: MockTransport
  private let store = MemoryStore()
  private let queue: TelemetryQueue
  private let pushLogID = UUID()

  init() {
    transport = MockTransport()
    queue = TelemetryQueue(PushServiceClient(transport), store: store)
  }

  private static var ritual: [AnyHashable: Any] {
    [
      "type": "ritual", "slot": "0800", "fire_date": "2026-11-22", "action": "open_do", "phase": "morning",
      "micro_action": 4,
    ]
  }

  private typealias Row = (String?, [AnyHashable: Any], NotificationRoute?)

  private static var routes: [Row] {
    [
      (nil, ritual, .openDo(phase: "morning", microAction: 4)),
      ("START_RITUAL", ritual, .openDo(phase: "morning", microAction: 4)),
      ("DID_THIS", ritual, nil),
      (nil, ["type": "check_in", "action": "new_conversation", "domain": "sleep"], .newConversation(domain: "sleep")),
      (nil, ["type": "check_in", "action": "new_conversation"], .newConversation(domain: nil)),
      (nil, ["type": "message", "conversation_id": "c", "message_id": "m"], .conversation(id: "c", messageID: "m")),
      (nil, ["type": "post", "surface_kind": "question", "surface_id": "q"], .surface(kind: "question", id: "q")),
      (nil, ["type": "morning"], .mood), ("LOG_MOOD", ["type": "morning"], .mood),
      ("QUICK_CHAT", ["type": "morning"], .chat), (nil, ["type": "reengagement"], .chat),
      (nil, ["type": "workout", "workoutType": "Run"], .workout(type: "Run")),
      ("START_WORKOUT", ["type": "workout"], .workout(type: nil)), ("SNOOZE_30", ["type": "workout"], nil),
      (nil, ["type": "meal", "mealType": "lunch"], .meal(type: "lunch", isQuick: false)),
      ("LOG_MEAL", ["type": "meal", "mealType": "lunch"], .meal(type: "lunch", isQuick: false)),
      ("QUICK_ADD", ["type": "meal", "mealType": "lunch"], .meal(type: "lunch", isQuick: true)),
      ("OPEN", ["type": "daily"], .other(type: "daily", action: "")),
      (nil, ["type": "daily", "action": "x"], .other(type: "daily", action: "x")),
      ("SHARE", ["type": "daily"], .other(type: "daily", action: "SHARE")),
      (nil, [:], .other(type: nil, action: "")),
    ]
  }

  @Test("a tap and each button name their route", arguments: routes.indices)
  func route(index: Int) {
    let (button, userInfo, route) = Self.routes[index]
    #expect(NotificationRoute(button: button, of: PushContent(userInfo)) == route)
  }

  private func handle(
    _ choice: NotificationResponse.Choice, _ userInfo: [AnyHashable: Any], isPush: Bool,
    _ categories: NotificationCategories? = nil
  ) async -> NotificationRoute? {
    var userInfo = userInfo
    if isPush { userInfo["push_log_id"] = pushLogID.uuidString }
    let response = NotificationResponse(
      choice, content: PushContent(userInfo), category: "C", date: Date(timeIntervalSince1970: 1_795_330_931))
    return await NotificationResponder(queue, categories: categories).handle(response)
  }

  private typealias Choice = NotificationResponse.Choice
  private static var message: [AnyHashable: Any] { ["type": "message", "conversation_id": "c"] }

  /// What is chosen, of a push or not, whether it opens something, and what is reported; `opened` is a line of the push.
  private static var taps: [(Choice, [AnyHashable: Any], isPush: Bool, opens: Bool, lines: [String])] {
    [
      (.notification, ritual, false, true, ["telemetry"]),
      (.notification, ritual, true, true, ["opened", "telemetry"]),
      (.notification, message, true, true, ["opened"]), (.button("DID_THIS"), ritual, true, false, ["actions"]),
      (.button("START_RITUAL"), ritual, true, true, ["actions", "opened", "telemetry"]),
      (.dismissal, ritual, true, false, ["telemetry"]), (.dismissal, message, true, false, []),
    ]
  }

  @Test(
    "a tap is an event of a slot and an opened push, a button an action, a dismissal an event",
    arguments: taps.indices)
  func tap(index: Int) async {
    let (choice, userInfo, isPush, opens, lines) = Self.taps[index]
    #expect((await handle(choice, userInfo, isPush: isPush) != nil) == opens)
    let opened = "pushes/\(pushLogID.uuidString.lowercased())/opened"
    #expect(transport.lines == lines.map { "POST /v1/\($0 == "opened" ? opened : $0)" })
  }

  @Test("a report says what was done, and when")
  func words() async throws {
    _ = await handle(.notification, Self.ritual, isPush: false)
    _ = await handle(.dismissal, Self.ritual, isPush: true)
    _ = await handle(.button("DID_THIS"), Self.ritual, isPush: true)
    let contents = try transport.asked.map { try $0.json }
    let events = contents.compactMap { $0["events"]?.list?.first }
    #expect(events.map { $0["code"]?.text } == ["opened", "dismissed"])
    #expect(events.allSatisfy { $0["identifier"]?.text == "ritual.0800.2026-11-22" })
    #expect(contents[2]["action"]?.text == "DID_THIS" && contents[2]["at"]?.text == "2026-11-22T07:02:11.000Z")
  }

  @Test("a button whose identifier the service does not take is not reported as one", arguments: ["a b", "", "ä"])
  func unknownButton(button: String) async {
    #expect(await handle(.button(button), Self.ritual, isPush: false) != nil)
    #expect(transport.lines == ["POST /v1/telemetry"])
  }

  @Test("what cannot be sent waits, and is sent by the next start")
  func offline() async {
    let transport = MockTransport([.nothing, .nothing, .nothing])
    let store = MemoryStore()
    let queue = TelemetryQueue(PushServiceClient(transport), store: store)
    let response = NotificationResponse(.button("DID_THIS"), content: PushContent(Self.ritual))
    await NotificationResponder(queue).handle(response)
    #expect(await queue.count == 1)
    let next = TelemetryQueue(PushServiceClient(transport), store: store)
    await next.flush()
    #expect(await next.count == 0)
    let sent = transport.asked.map { try? $0.json }
    #expect(sent.count == 4 && sent[0] != nil && Set(sent).count == 1)
  }

  @Test("the configuration tells which of the host's own buttons open the app")
  func ownButtons() async throws {
    let configuration = """
      {"flags":{},"channels":[],"categories":[{"id":"C","actions":[{"id":"LATER","title":"L","options":[]},
      {"id":"SHOW","title":"S","options":["foreground"]}]}]}
      """
    let categories = NotificationCategories(
      PushServiceClient(MockTransport([.status(200, content: configuration)])), registry: MockRegistry(), store: store)
    await categories.refresh()
    #expect(await handle(.button("LATER"), Self.ritual, isPush: false, categories) == nil)
    #expect(
      await handle(.button("SHOW"), Self.ritual, isPush: false, categories) == .other(type: "ritual", action: "SHOW"))
  }

  @Test("the system's identifiers are read")
  func choices() {
    #expect(NotificationResponse.Choice("com.apple.UNNotificationDefaultActionIdentifier") == .notification)
    #expect(NotificationResponse.Choice("com.apple.UNNotificationDismissActionIdentifier") == .dismissal)
    #expect(NotificationResponse.Choice("DID_THIS") == .button("DID_THIS"))
  }
}

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
    NotificationCategories(PushServiceClient(transport), registry: registry, store: store)
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
    let client = PushServiceClient(MockTransport([.status(401)]))
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
    NotificationPermission(PushServiceClient(transport), center: user)
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
  }
}
