import Foundation
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
    #expect(try await scene.ledger(of: message, rows: 1) == [conversation.people[0]: "sent "])
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
    // The lease of the dead process runs out now instead of in half a minute.
    try await scene.sql("update tacet.inbox set available_at = now()")
    scene.register(token)
    let second = try await scene.startService()
    let pushes = try await scene.pushes(of: message, atLeast: 2)
    #expect(Set(pushes.map(\.identifier)).count == 1)
    #expect(try await scene.ledger(of: message, rows: 1) == [conversation.people[0]: "sent "])
    #expect(scene.simulator.service.withLog { $0.screen.visible.count } == 1)
    try await second.stop()
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
      let readiness = try await service.get("/readyz")
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
      var readiness = try await service.get("/readyz")
      let start = ContinuousClock.now
      while !readiness.text.contains(words), ContinuousClock.now < start + .seconds(20) {
        try await Task.sleep(for: .milliseconds(50))
        readiness = try await service.get("/readyz")
      }
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
      let frozen = ContinuousClock.now
      var readiness = try await service.get("/readyz")
      while readiness.status == 200, ContinuousClock.now < frozen + .seconds(10) {
        try await Task.sleep(for: .milliseconds(50))
        readiness = try await service.get("/readyz")
      }
      // Three seconds without an answer, and what a busy machine adds.
      #expect(readiness.status == 503 && ContinuousClock.now - frozen < .seconds(5), "\(readiness.text)")
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
      #expect(try await scene.ledger(of: message, rows: 1) == [conversation.people[0]: "sent "])
      let rows = try await scene.sql(
        "select device_token from push_tokens where user_id = '\(conversation.people[0])' and invalidated_at is null")
      #expect(rows == person.devices[1])
    }
  }
}
