import Cryptography
import Foundation
import FoundationNetworking
import Simulators
import TestPostgres
import Testing

@Suite("Outages", .serialized)
struct OutageTests {
  @Test("a message inserted while the service is stopped is pushed when it starts")
  func stopped() async throws {
    let scene = try await ServiceScene()
    let conversation = try await Conversation(scene, [.away()])
    let message = try await conversation.say()
    let service = try await scene.startService()
    #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    #expect(try await scene.settled(message) == [conversation.people[0]: "sent "])
    try await service.stop()
    await scene.simulator.stop()
  }

  @Test("a killed service's claims are taken over, and shown once")
  func killed() async throws {
    let scene = try await ServiceScene()
    let conversation = try await Conversation(scene, [.away()])
    let token = conversation.tokens[0][0]
    scene.register(token, delayMilliseconds: 60_000)
    let first = try await scene.startService()
    let message = try await conversation.say()
    _ = try await scene.pushes(of: message, atLeast: 1)
    try await first.process.signal(SIGKILL)
    _ = try await first.process.exitCode()
    scene.register(token)
    let second = try await scene.startService()
    let pushes = try await scene.pushes(of: message, atLeast: 2)
    #expect(Set(pushes.map(\.identifier)).count == 1)
    #expect(try await scene.settled(message) == [conversation.people[0]: "sent "])
    #expect(scene.simulator.service.withLog { $0.screen.visible.count } == 1)
    try await second.stop()
    await scene.simulator.stop()
  }

  @Test("two processes share the conversations; when one is killed the other has its own within some seconds")
  func takenOver() async throws {
    let scene = try await ServiceScene()
    var conversations: [Conversation] = []
    for _ in 0..<12 { conversations.append(try await Conversation(scene, [.away()])) }
    let services = [try await scene.startService(), try await scene.startService()]
    try await scene.wait(
      for: "8,8", to: "select string_agg(n::text, ',') from (select count(*) n from tacet.shards group by owner) s")
    try await services[0].process.signal(SIGKILL)
    _ = try await services[0].process.exitCode()
    let killed = ContinuousClock.now
    for conversation in conversations { _ = try await conversation.say() }
    #expect(await scene.simulator.waitForPushes(12, within: .seconds(60)))
    let took = ContinuousClock.now - killed
    print("after a kill the other process had all conversations in \(took)")
    // Six on an idle machine: the lease of five and the second between two renewals. What is claimed by itself is free after thirty.
    #expect(took < .seconds(20))
    try await scene.wait(for: "1", to: "select count(distinct owner) from tacet.shards")
    try await services[1].stop()
    await scene.simulator.stop()
  }

  @Test("a webhook is told 503 while the database is away, and what is inserted when it is back is pushed")
  func databaseAway() async throws {
    let postgres = try await TestPostgres.launch()
    try await ServiceScene.play(postgres: postgres) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      try await postgres.stop()
      let answer = try await service.webhook(#"{"message_id": "\#(UUID().uuidString)"}"#)
      #expect(answer.status == 503 && answer.field("Retry-After") != nil, "\(answer.text)")
      #expect(try await service.get("/healthz").status == 200)
      // A reactor that has not asked since finds out by itself, a moment later.
      let readiness = try await service.readiness { $0.text.contains("no session is open: ") }
      #expect(readiness.status == 503)
      let checks = try #require(readiness.json["checks"] as? [[String: any Sendable]])
      let database = try #require(checks.first { $0["name"] as? String == "database" })
      #expect((database["detail"] as? String)?.hasPrefix("no session is open: ") == true, "\(readiness.text)")
      try await postgres.start()
      let message = try await conversation.say()
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    }
  }

  @Test(
    "a database that takes no writes is an outage: callers get 503, readiness and the doctor give one reason, and it ends"
  )
  func readOnlyDatabase() async throws {
    let postgres = try await TestPostgres.launch()
    try await ServiceScene.play(postgres: postgres) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      try await postgres.psql("alter system set default_transaction_read_only = on")
      try await postgres.psql("select pg_reload_conf()")
      let words = "it takes no writes"
      let readiness = try await service.readiness { $0.text.contains(words) }
      #expect(readiness.status == 503, "\(readiness.text)")
      let checks = try #require(readiness.json["checks"] as? [[String: any Sendable]])
      #expect(
        checks.filter { $0["ready"] as? Bool == false }.map { $0["name"] as? String } == ["database"],
        "\(readiness.text)")
      for _ in 0..<3 {
        let answer = try await service.webhook(#"{"message_id": "\#(UUID().uuidString)"}"#)
        #expect(answer.status == 503 && answer.field("Retry-After") != nil, "\(answer.text)")
      }
      let doctor = try await DoctorRun(scene.settings)
      #expect(
        doctor.exitCode == 1 && doctor.lines("FAIL").contains { $0.contains("server: ") && $0.contains(words) },
        "\(doctor.text)")
      #expect(
        !doctor.lines("FAIL").contains { $0.contains("contract") || $0.contains("host functions") }, "\(doctor.text)")
      try await postgres.psql("alter system reset default_transaction_read_only")
      try await postgres.psql("select pg_reload_conf()")
      let message = try await conversation.say()
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    }
  }

  @Test("readiness turns within seconds when the database falls silent, and comes back with it")
  func silentDatabase() async throws {
    let postgres = try await TestPostgres.launch()
    try await ServiceScene.play(postgres: postgres) { _, service in
      #expect(try await service.readiness().status == 200)
      postgres.freeze()
      defer { postgres.thaw() }
      // Three seconds without an answer, and what a busy machine adds; nothing else ends a silence within a minute.
      let readiness = try await service.readiness { $0.status != 200 }
      #expect(readiness.status == 503, "\(readiness.text)")
      postgres.thaw()
      #expect(try await service.readiness().status == 200)
    }
  }

  @Test("a device that APNs calls dead is dropped, another is not")
  func deadToken() async throws {
    try await ServiceScene.play { scene, _ in
      let person = Conversation.Person(devices: [Conversation.newToken(), Conversation.newToken()])
      let conversation = try await Conversation(scene, [person])
      let end = Int64(Date().timeIntervalSince1970 * 1000) + 1000
      scene.register(person.devices[0], end: .unregistered(atMilliseconds: end))
      let message = try await conversation.say()
      #expect(try await scene.settled(message) == [conversation.people[0]: "sent "])
      let rows = try await scene.sql(
        "select device_token from push_tokens where user_id = '\(conversation.people[0])' and invalidated_at is null")
      #expect(rows == person.devices[1])
    }
  }
}

@Suite("Failover", .serialized)
struct FailoverTests {
  @Test("when the server dies and its standby is promoted, the running service goes on with that one")
  func promoted() async throws {
    let primary = try await TestPostgres.launch()
    let standby = try await primary.launchStandby()
    try await ServiceScene.play(postgres: primary, standby: standby) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let early = try await conversation.say()
      #expect(try await scene.settled(early) == [conversation.people[0]: "sent "])
      try await scene.failOver()
      #expect(try await scene.settled(early) == [conversation.people[0]: "sent "])
      let late = try await conversation.say()
      #expect(try await scene.pushes(of: late, atLeast: 1).count == 1)
      #expect(try await scene.settled(late) == [conversation.people[0]: "sent "])
      #expect(scene.simulator.service.withLog { $0.total } == 2)
      #expect(try await service.readiness().status == 200)
    }
  }

  @Test("when the server falls silent and its standby is promoted, pushes go on a second later")
  func silent() async throws {
    let primary = try await TestPostgres.launch()
    let standby = try await primary.launchStandby()
    try await ServiceScene.play(postgres: primary, standby: standby) { scene, _ in
      let conversation = try await Conversation(scene, [.away()])
      let early = try await conversation.say()
      #expect(try await scene.settled(early) == [conversation.people[0]: "sent "])
      let usual = try await pushThree(in: conversation)
      try await scene.wait(for: "4", to: "select count(*) from tacet.push_log where decision = 'sent'")
      try await scene.failOver(silently: true)
      let took = try await pushThree(in: conversation)
      let later = try await pushThree(in: conversation)
      // Twice the goal; a service that waits for statements needs three seconds. What a busy machine adds is in all three.
      #expect(took - usual < max(.seconds(2), max(usual, later) * 4), "usually \(usual) and \(later)")
      try await primary.kill()
    }
  }
}

extension FailoverTests {
  /// Pushes three messages one after the other; how long that takes.
  private func pushThree(in conversation: Conversation) async throws -> Duration {
    let start = ContinuousClock.now
    for _ in 0..<3 {
      let message = try await conversation.say()
      #expect(try await conversation.scene.pushes(of: message, atLeast: 1).count == 1)
    }
    return ContinuousClock.now - start
  }
}

@Suite("A route whose pushes are all refused", .serialized)
struct StoppedRouteTests {
  private static let messages = 1000

  /// The most requests on a connection after its first refusal. Those that were on their way by then cannot be taken back.
  private static let requestsMax = 10

  /// How long after the refusal's answer requests may still arrive that were on their way, at least; microseconds.
  private static let underwayMin: Int64 = 250_000

  private static let answerMilliseconds = 50

  @Test("is stopped within ten requests on each connection when the key is revoked; what waits goes when it is back")
  func revokedKey() async throws {
    try await ServiceScene.play(extra: ["REACTORS": "2"]) { scene, _ in
      let key = try #require(scene.simulator.service.withRegistry { $0.keys["KEY0000001"] })
      scene.simulator.service.withRegistry {
        $0.register(
          ProviderKey(identifier: key.identifier, team: key.team, publicKey: P256PrivateKey().publicKey))
      }
      let conversation = try await Conversation(scene, [.away()])
      try await post(in: conversation, of: scene)
      try await waits(scene)
      check(scene, reason: "InvalidProviderToken")
      scene.simulator.service.withRegistry { $0.register(key) }
      try await scene.wait(
        for: "\(Self.messages)", to: "select count(*) from tacet.push_log where decision = 'sent'")
    }
  }

  @Test(
    "is stopped within ten requests when every token is bad, and drops none: whether it had worked before or not",
    arguments: [false, true], [false, true])
  func badTokens(_ isProven: Bool, _ hasSandbox: Bool) async throws {
    try await ServiceScene.play(extra: ["REACTORS": "2"], hasSandbox: hasSandbox) { scene, _ in
      let people = try await Conversation(scene, (0..<20).map { _ in .away() })
      let first = isProven ? try await people.say() : nil
      if let first { _ = try await scene.pushes(of: first, atLeast: 20) }
      let accepted = scene.simulator.service.withLog { $0.total }
      // Their answers take longer than it takes to send what is there, so what is sent after one is told from the rest.
      let stranger = RegisteredDevice(
        environment: .sandbox, bundle: ServiceScene.bundle, delayMilliseconds: Self.answerMilliseconds)
      for token in people.tokens.joined() {
        scene.simulator.service.withRegistry { _ = $0.register(stranger, token: token) }
      }
      try await post(in: people, of: scene)
      try await waits(scene)
      check(scene, reason: "BadDeviceToken", after: accepted)
      let dropped = "select count(*) from push_tokens where invalidated_at is not null"
      #expect(try await scene.sql(dropped) == "0")
    }
  }

  private func post(in conversation: Conversation, of scene: ServiceScene) async throws {
    try await scene.sql(
      """
      insert into messages (conversation_id, from_id, text)
      select '\(conversation.id)', '\(conversation.sender)', 'message ' || n
      from generate_series(1, \(Self.messages / conversation.people.count)) n
      """)
  }

  /// Waits until everything has been decided once, and nothing is on its way; now and then one is, to find out.
  private func waits(_ scene: ServiceScene) async throws {
    let sql = """
      select (select count(*) from tacet.inbox),
        (select count(*) from tacet.deliveries where state in ('waiting', 'retryable') and not is_claimed) >= \(Self.messages)
      """
    try await scene.wait(for: "0|t", to: sql)
  }

  private func check(_ scene: ServiceScene, reason: String, after number: Int = 0) {
    var query = PushQuery()
    query.limit = PushQuery.limitMax
    query.after = number
    let records = scene.simulator.service.withLog { $0.records(query).records }
    #expect(records.contains { $0.reason == reason })
    // On a machine that is busy with other tests requests are as late as answers.
    let times = records.compactMap { record in record.answeredMicroseconds.map { $0 - record.arrivedMicroseconds } }
    let underway = max(Self.underwayMin, 2 * ((times.max() ?? 0) - (times.min() ?? 0)))
    for (connection, pushes) in Dictionary(grouping: records, by: \.connection) {
      guard let refusal = pushes.first(where: { $0.status != 200 }) else { continue }
      let stopped = (refusal.answeredMicroseconds ?? .max / 2) + underway
      let later = pushes.count { $0.arrivedMicroseconds > stopped }
      print("connection \(connection): \(pushes.count) requests, \(later) after the first refusal")
      #expect(later <= Self.requestsMax, "connection \(connection)")
    }
  }
}

@Suite("Bad input", .serialized)
struct RefusalTests {
  @Test("is refused with a status and a problem that says what is wrong")
  func refusals() async throws {
    try await ServiceScene.play { _, service in
      for (body, field) in [
        ("{", nil), ("[]", nil), ("{}", "message_id"), (#"{"message_id": 7}"#, "message_id"),
        (#"{"message_id": "7"}"#, "message_id"), (#"{"type": "INSERT", "record": {"id": null}}"#, "record.id"),
        (#"{"type": "DELETE", "record": {"id": "x"}}"#, "type"),
      ] as [(String, String?)] {
        let answer = try await service.webhook(body)
        #expect(answer.status == 400, "\(body)")
        #expect(answer.field("Content-Type") == "application/problem+json")
        #expect(answer.json["field"] as? String == field, "\(body): \(answer.text)")
      }
      let body = #"{"message_id": "\#(UUID().uuidString)"}"#
      #expect(try await service.webhook(body, secret: nil).status == 401)
      #expect(try await service.webhook(body, secret: "wrong").status == 401)
      #expect(try await service.webhook(body).status == 404)
      #expect(try await service.webhook(body, fields: ["Content-Type": "text/plain"]).status == 415)
      #expect(try await service.webhook(String(repeating: " ", count: 2 << 20)).status == 413)
      #expect(try await service.get("/nowhere").status == 404)
      let wrongMethod = try await service.get("/v1/webhooks/messages")
      #expect(wrongMethod.status == 405 && wrongMethod.field("Allow")?.contains("POST") == true)
    }
  }

  @Test("readiness says what is forgone behind a pooler, and is not refused for it")
  func pooled() async throws {
    try await ServiceScene.play(route: .pooled) { _, service in
      let readiness = try await service.readiness()
      #expect(readiness.status == 200, "\(readiness.text)")
      #expect(readiness.text.contains("DATABASE_POOL_MODE is transaction"))
    }
  }

  @Test("health, readiness, metrics and the description are open to all")
  func health() async throws {
    try await ServiceScene.play { _, service in
      let (health, readiness) = (try await service.get("/healthz"), try await service.readiness())
      #expect(health.status == 200 && readiness.status == 200)
      #expect(try await service.get("/openapi.yaml").text.hasPrefix("openapi: 3.1"))
      #expect(try await service.get("/metrics").text.contains("tacet_reactor_ticks_total"))
    }
  }
}
