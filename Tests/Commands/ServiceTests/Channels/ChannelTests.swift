import Cryptography
import Foundation
import FoundationNetworking
import Reactors
import Simulators
import TestLogs
import TestProcesses
import Testing

@Suite("A phone, a browser and an Android phone", .serialized)
struct ChannelTests {
  private struct Document: Decodable {
    struct Notification: Decodable {
      let title: String
      let body: String
      let navigate: String
      let tag: String
    }
    let notification: Notification
  }

  @Test("one message is delivered to all three, and has one row in the ledger")
  func three() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      try await channels.register(user, at: service)
      let text = Conversation.newText()
      let message = try await conversation.say(text)

      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      let push = try #require(try await channels.browserPushes(atLeast: 1).first)
      #expect(push.status == 201 && push.urgency == "high" && push.topic == nil && push.contentFault == nil)
      let shown = try JSONDecoder().decode(Document.self, from: Data(try #require(push.content).utf8)).notification
      #expect(shown.title == "Message from Ann")
      #expect(shown.body == text)
      #expect(shown.tag == message)
      #expect(shown.navigate == "https://chat.example.com/c/\(conversation.id)")
      try #require(await channels.android.waitForMessages(1, within: .seconds(60)))
      let sent = try #require(channels.android.service.messages.first)
      #expect(sent.status == 200, "\(sent)")
      #expect(sent.token == ChannelScene.androidToken && sent.priority == "HIGH")
      #expect(sent.tag == message && sent.isNotification && sent.payload.contains(text))

      #expect(try await scene.settled(message) == [user: "sent "])
      let row = "select count(*), max(devices_accepted) from tacet.push_log where user_id = '\(user)'"
      #expect(try await scene.sql(row) == "1|3")
      let routes = """
        select string_agg(a ->> 'route' || ' ' || (a ->> 'verdict'), ',' order by a ->> 'route')
        from tacet.push_log l, jsonb_array_elements(l.history) e, jsonb_array_elements(e -> 'attempts') a
        where l.user_id = '\(user)'
        """
      #expect(
        try await scene.sql(routes)
          == "com.example.app/production accepted,fcm/demo-project accepted,web_push/127.0.0.1 accepted")
    }
  }

  @Test("browsers and Android phones that are gone are dropped, and the phone goes on")
  func gone() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      #expect(channels.browsers.service.setState(of: "browser", to: .gone))
      let message = try await conversation.say()
      #expect(try await scene.settled(message) == [user: "sent "])
      #expect(try await scene.sql("select channel || ' ' || drop_reason from tacet.targets").hasPrefix("web_push "))
      #expect(try await scene.sql("select count(*) from tacet.targets where dropped_at is null") == "0")
    }
  }

  @Test("while two push services hang, pushes to phones take as long as before")
  func outage() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, (0..<20).map { _ in .away() })
      for (number, user) in conversation.people.enumerated() {
        try await channels.subscribe(user, as: "browser-\(number)", at: service)
        try await channels.register(user, ChannelScene.token("token-\(number)"), at: service)
      }
      let usual = try await Self.milliseconds(of: conversation, 20)
      #expect(
        channels.browsers.service.arrange(
          PushFault(.answer, times: 10_000, status: 503, delayMilliseconds: 5000)))
      let hanging = try await Self.milliseconds(of: conversation, 20)
      print(
        "commit to APNs, median of 20 messages to 20 people each: \(usual) ms, while the browsers' service hangs \(hanging) ms"
      )
      // Whoever waits for the browsers' service waits for its five seconds; other work on the machine adds less than one.
      #expect(hanging < max(3 * usual, usual + 1000))
    }
  }

  /// From the commit of a message to the arrival of its last push at APNs, the median.
  private static func milliseconds(of conversation: Conversation, _ count: Int) async throws -> Double {
    var times: [Double] = []
    for _ in 0..<count {
      let start = ContinuousClock.now
      let message = try await conversation.say()
      _ = try await conversation.scene.pushes(of: message, atLeast: conversation.people.count)
      times.append((ContinuousClock.now - start) / .milliseconds(1))
    }
    return times.sorted()[count / 2]
  }
}

@Suite("Devices in several locales", .serialized)
struct LocaleTests {
  /// A table of orders with a watched kind, and targets that bring their locale.
  private static let tables = """
    create table public.orders (id uuid primary key default gen_random_uuid(), buyer_id uuid, item_count int);
    create function public.order_recipients(subject_id uuid) returns setof uuid language sql stable as
      'select o.buyer_id from public.orders o where o.id = subject_id';
    create or replace function tacet.push_targets(user_id uuid)
    returns table (channel text, address text, environment text, app text, keys text) language sql stable as $$
      select 'apns', d.device_token, d.environment, d.app, json_build_object('locale', d.locale)::text
      from public.push_tokens d where d.user_id = push_targets.user_id and d.invalidated_at is null
      union all
      select t.channel, t.address, null, t.app, (coalesce(t.keys, '{}')::jsonb || jsonb_build_object('locale', t.locale))::text
      from tacet.targets t where t.user_id = push_targets.user_id and t.dropped_at is null
    $$;
    """

  private static func watch(_ presentation: String = "{}") -> String {
    """
    select tacet.watch(
      kind => 'order_shipped', source => 'public.orders', recipients => 'public.order_recipients',
      title => 'Your order is on its way', body => '{item_count} items', presentation => '\(presentation)');
    select tacet.localise(
      'order_shipped', 'de', 'Deine Bestellung ist unterwegs', '{item_count} Artikel');
    select tacet.localise(
      'order_shipped', 'pl', 'Zamówienie w drodze', '{item_count} sztuk', counted => 'item_count',
      plural => '{"one": {"body": "{item_count} sztuka"}, "few": {"body": "{item_count} sztuki"}}')
    """
  }

  private func order(_ count: Int, for user: String, in scene: ServiceScene) async throws -> String {
    try await scene.sql("insert into orders (buyer_id, item_count) values ('\(user)', \(count)) returning id")
  }

  @Test("one event is in the language of each of a user's devices, and its explanation says why")
  func devices() async throws {
    try await ServiceScene.play { scene, _ in
      let person = Conversation.Person(devices: (0..<4).map { _ in Conversation.newToken() })
      let user = try await Conversation(scene, [person]).people[0]
      for (token, locale) in zip(person.devices, ["de-AT", "pl", "fr", "no locale!"]) {
        try await scene.sql("update push_tokens set locale = '\(locale)' where device_token = '\(token)'")
      }
      try await scene.sql(Self.tables)
      try await scene.sql(Self.watch())
      let subject = try await order(3, for: user, in: scene)
      let pushes = try await scene.pushes(of: subject, atLeast: 4)
      let shown = person.devices.map { token in pushes.first { $0.token == token }?.payload ?? "" }
      #expect(shown[0].contains(#""title":"Deine Bestellung ist unterwegs","body":"3 Artikel""#))
      #expect(shown[1].contains(#""title":"Zamówienie w drodze","body":"3 sztuki""#))
      #expect(shown[2...].allSatisfy { $0.contains(#""title":"Your order is on its way","body":"3 items""#) })
      #expect(try await scene.settled(subject) == [user: "sent "])
      let text = try await scene.explain(subject)
      func sentence(_ number: Int) -> String { "accepted the push for device \(person.devices[number].prefix(8))" }
      #expect(text.contains("\(sentence(0)), in de, since the device asks for de-AT"))
      #expect(text.contains("\(sentence(1)), in pl, as the device asks"))
      #expect(text.contains("\(sentence(2))\n"))
      let noted = """
        select count(*) from tacet.push_log l, jsonb_array_elements(l.history) e, jsonb_array_elements(e -> 'attempts') a
        where a ? 'locale' and l.subject_id = '\(subject)'
        """
      #expect(try await scene.sql(noted) == "2", "the event's own words are not noted")

      try await scene.sql("select tacet.unlocalise('order_shipped')")
      let plain = try await scene.pushes(of: try await order(1, for: user, in: scene), atLeast: 4)
      #expect(plain.allSatisfy { $0.payload.contains("Your order is on its way") })
    }
  }

  @Test("a browser and an Android phone get their languages, and keys of the app's translations where it has them")
  func channels() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      try await channels.register(user, at: service)
      try await scene.sql(Self.tables + "update tacet.targets set locale = 'de-CH'")
      try await scene.sql(
        Self.watch(#"{"title_loc_key": "SHIPPED", "title_loc_args": ["{item_count}"], "loc_key": "ITEMS"}"#))
      let subject = try await order(2, for: user, in: scene)
      let push = try #require(try await scene.pushes(of: subject, atLeast: 1).first)
      #expect(
        push.payload.hasPrefix(
          #"{"aps":{"alert":{"title-loc-key":"SHIPPED","title-loc-args":["2"],"loc-key":"ITEMS"}"#))
      let shown = try #require(try await channels.browserPushes(atLeast: 1).first?.content)
      #expect(shown.contains(#""title":"Deine Bestellung ist unterwegs""#) && shown.contains(#""body":"2 Artikel""#))
      #expect(shown.contains(#""lang":"de""#))
      try #require(await channels.android.waitForMessages(1, within: .seconds(60)))
      let sent = try #require(channels.android.service.messages.first)
      #expect(sent.status == 200 && sent.isNotification)
      #expect(
        sent.payload.contains(#""title_loc_key":"SHIPPED","title_loc_args":["2"],"body_loc_key":"ITEMS""#),
        "\(sent.payload)")
      #expect(!sent.payload.contains("Bestellung"), "Android shows words rather than keys when it gets both")
    }
  }
}

@Suite("Private content leaves the machine without a word", .serialized)
struct PrivateContentTests {
  private static let body = "Zinnoberrot um Mitternacht"
  private static let words = ["Zinnoberrot", "Mitternacht", "Wilhelmina", "Zobel", "Message from"]

  @Test(
    "a phone, an Android phone and a browser get what the setting allows, and the carriers nothing else",
    arguments: ["sealed", "none", "sender"])
  func capture(_ setting: String) async throws {
    RunLogs.note(Self.body, as: .text)
    try await ChannelScene.play(extra: ["CONTENT": setting]) { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away(), .away()])
      let (user, keyless) = (conversation.people[0], conversation.people[1])
      let (phone, android) = (X25519PrivateKey(), X25519PrivateKey())
      let token = conversation.tokens[0][0]
      let key = Base64URL.encode(phone.publicKey.bytes)
      #expect(
        try await service.put("/v1/devices/\(token)", #"{"sealing_key": "\#(key)", "locale": "de-AT"}"#, as: user)
          .status
          == 204)
      try await channels.register(
        user, sealingKey: Base64URL.encode(android.publicKey.bytes), at: service)
      try await channels.subscribe(user, as: "browser", at: service)
      try await scene.sql("update profiles set name = 'Wilhelmina Zobel' where id = '\(conversation.sender)'")
      let message = try await conversation.say(Self.body)

      let pushes = try await scene.pushes(of: message, atLeast: 2)
      try #require(await channels.android.waitForMessages(1, within: .seconds(60)))
      let browser = try #require(try await channels.browserPushes(atLeast: 1).first)
      // All that APNs and FCM have got, headers included.
      let captured =
        try (scene.simulator.service.withLog { $0.records(PushQuery()).records }.map { try Self.text($0) })
        + channels.android.service.messages.map { "\($0)" }
      #expect(captured.count >= 3)
      for text in captured {
        for word in Self.words where setting != "sender" || !["Wilhelmina", "Zobel"].contains(word) {
          #expect(!text.contains(word), "\(setting): \(word) in \(text)")
        }
        #expect(text.contains(message))
      }
      let sealed = pushes.filter { $0.payload.contains(#""sealed":""#) }
      #expect(sealed.map(\.token) == (setting == "sealed" ? [token] : []))
      #expect(pushes.allSatisfy { $0.payload.contains(#""mutable-content":1"#) == (setting != "sender") })
      #expect(try #require(browser.content).contains(Self.body) == (setting == "sealed"))
      let notes = """
        select string_agg((a ->> 'route') || ' ' || coalesce(a ->> 'content', '-'), ',' order by a ->> 'route')
        from tacet.push_log l, jsonb_array_elements(l.history) e, jsonb_array_elements(e -> 'attempts') a
        where l.user_id = '%'
        """
      _ = try await scene.settled(message)
      let expected =
        setting == "sealed"
        ? "com.example.app/production sealed,fcm/demo-project sealed,web_push/127.0.0.1 -"
        : "com.example.app/production \(setting),fcm/demo-project \(setting),web_push/127.0.0.1 \(setting)"
      #expect(try await scene.sql(notes.replacing("%", with: user)) == expected)
      #expect(
        try await scene.sql(notes.replacing("%", with: keyless))
          == "com.example.app/production \(setting == "sealed" ? "no_key" : setting)")
      try await Self.hasPublicKeysOnly(scene, [phone, android])
      let explanation = try await scene.explain(message).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      let phrase = [
        "sealed": "sealed for the device", "none": "without content", "sender": "with the sender's name alone",
      ][setting, default: ""]
      #expect(explanation.contains(phrase), "\(explanation)")
      if setting == "sealed" { #expect(explanation.contains("has no key")) }
      #expect(!service.process.text.contains("Zinnoberrot"))
    }
  }

  private static func text(_ record: APNSPushRecord) throws -> String {
    String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
  }

  /// No table has a private key.
  private static func hasPublicKeysOnly(_ scene: ServiceScene, _ keys: [X25519PrivateKey]) async throws {
    let stored = try await scene.sql(
      "select string_agg(w.wishes, ' ') from tacet.target_wishes w union all select string_agg(t.keys, ' ') from tacet.targets t"
    )
    for key in keys {
      #expect(stored.contains(Base64URL.encode(key.publicKey.bytes)))
      #expect(!stored.contains(Base64URL.encode(key.scalar)))
    }
  }
}

/// A scene whose service also pushes to browsers and to Android, over a stand-in for each.
struct ChannelScene {
  /// An Android app's registration token.
  static let androidToken = token("a")

  /// A token of FCM's form.
  static func token(_ name: String) -> String {
    let name = name + String(repeating: "x", count: max(0, 22 - name.count))
    return name + ":APA91b" + String(repeating: "A", count: 134)
  }

  private static let serviceKey = "the-service-key-of-the-tests-long-enough"

  let scene: ServiceScene
  let browsers: WebPushSimulator
  let android: FCMSimulator
  private let publicKey: String

  /// Runs a test; everything is stopped afterwards.
  static func play(
    extra: [String: String] = [:], _ body: (ChannelScene, RunningService) async throws -> Void
  ) async throws {
    let group = try ReactorGroup(count: 1)
    var webPush = WebPushSimulatorConfiguration()
    webPush.logger = RunLogs.logger
    let browsers = try await WebPushSimulator.start(webPush, on: group.reactors[0])
    var fcm = FCMSimulatorConfiguration()
    fcm.logger = RunLogs.logger
    fcm.acceptsAnyToken = true
    let android = try await FCMSimulator.start(fcm, on: group.reactors[0])
    let folder = try makeTemporaryFolder("test-channels")
    try #require(browsers.certificateAuthority).write(
      toFile: folder + "/push.pem", atomically: true, encoding: .utf8)
    let key = P256PrivateKey()
    let scene = try await ServiceScene(
      extra: [
        "VAPID_PRIVATE_KEY": key.pem, "VAPID_SUBJECT": "mailto:ops@example.com",
        "WEB_PUSH_HOSTS": "\(browsers.address)",
        "WEB_PUSH_URL": "https://chat.example.com/c/{conversation_id}", "WEB_PUSH_CA_FILE": folder + "/push.pem",
        "FCM_SERVICE_ACCOUNT": try android.makeServiceAccount(), "FCM_URL": android.origin,
        "SERVICE_KEY": serviceKey, "REACTORS": "1",
      ].merging(AppTests.settings) { $1 }.merging(extra) { $1 })
    let service = try await scene.startService()
    let outcome: Result<Void, any Error>
    do {
      let channels = ChannelScene(
        scene: scene, browsers: browsers, android: android, publicKey: Base64URL.encode(key.publicKey.x963))
      outcome = .success(try await body(channels, service))
    } catch {
      outcome = .failure(error)
    }
    try await service.stop()
    await scene.simulator.stop()
    await browsers.stop()
    await android.stop()
    await group.stop()
    try outcome.get()
  }

  /// Subscribes a browser, as its page does.
  func subscribe(_ user: String, as name: String, at service: RunningService) async throws {
    let subscription = SimulatedSubscription(identifier: name, serverKey: publicKey)
    browsers.service.add(subscription)
    let body = """
      {"endpoint": "\(browsers.service.endpoint(of: subscription))",
      "keys": {"p256dh": "\(subscription.p256dh)", "auth": "\(subscription.auth)"}}
      """
    #expect(try await service.put("/v1/web-push/subscriptions", body, as: user).status == 200)
  }

  /// Registers an Android app.
  func register(
    _ user: String, _ token: String = androidToken, sealingKey: String? = nil, at service: RunningService
  ) async throws {
    let key = sealingKey.map { #", "sealing_key": "\#($0)""# } ?? ""
    #expect(try await service.put("/v1/fcm/registrations", #"{"token": "\#(token)"\#(key)}"#, as: user).status == 204)
  }

  /// The document that a browser has got, with its arrival.
  func browserPushes(atLeast count: Int) async throws -> [WebPushRecord] {
    try #require(await browsers.waitForPushes(count, within: .seconds(60)))
    return browsers.service.pushes
  }
}

extension RunningService {
  /// Calls as the app of a user.
  func put(_ path: String, _ body: String, as user: String) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: origin + path)))
    request.httpMethod = "PUT"
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue("Bearer \(AppTests.token(of: user))", forHTTPHeaderField: "Authorization")
    return try await HTTPAnswer(of: request)
  }
}
