import Foundation
import Simulators
import TestProcesses
import Testing

@Suite("A service that lets its database sleep", .serialized)
struct SleepTests {
  private static let settings = ["IDLE_MODE": "webhook", "IDLE_SECONDS": "1"]

  @Test("opens no session while nothing happens, stays ready, and is woken by a webhook")
  func idle() async throws {
    try await ServiceScene.play(extra: Self.settings) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      try await service.asleep(in: scene)
      let missed = try await conversation.say()
      let before = try await scene.sessionsOpened()
      for _ in 0..<10 {
        #expect(try await service.get("/readyz").status == 200)
        let scrape = MetricsScrape(try await service.get("/metrics").text)
        #expect(scrape.sum("tacet_database_asleep") == 1 && scrape.sum("tacet_database_up") == 1)
        #expect(scrape.sum("tacet_claim_age_seconds") == 0)
        try await Task.sleep(for: .milliseconds(200))
      }
      // The one that asked before.
      #expect(try await scene.sessionsOpened() == before + 1)
      let told = try await conversation.say()
      #expect(try await service.webhook(#"{"message_id":"\#(told)"}"#).status == 200)
      for message in [missed, told] { #expect(try await scene.pushes(of: message, atLeast: 1).count == 1) }
      #expect(try await service.get("/readyz").status == 200)
      try await service.asleep(in: scene)
    }
  }

  @Test("polls where it is not told otherwise")
  func polls() async throws {
    try await ServiceScene.play { scene, service in
      try await scene.awaitLooks(4)
      #expect(MetricsScrape(try await service.get("/metrics").text).sum("tacet_database_asleep") == nil)
    }
  }

  @Test("looks at a hold when its window ends")
  func hold() async throws {
    try await ServiceScene.play(extra: Self.settings.merging(["SUPPRESSION_WINDOW_SECONDS": "15"]) { $1 }) {
      scene, service in
      let conversation = try await Conversation(scene, [.viewing()])
      let message = try await conversation.say()
      _ = try await service.webhook(#"{"message_id":"\#(message)"}"#)
      #expect(try await scene.ledger(of: message, held: 1).values.first == "held user_viewing")
      try await service.asleep(in: scene)
      #expect(scene.simulator.service.withLog { $0.total } == 0)
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      _ = try await scene.settled(message)
      #expect(try await scene.sql("select woken_by from push_log") == "due")
    }
  }

  @Test("killed in its sleep, it finds at its start what came meanwhile; two of them push once")
  func killed() async throws {
    let scene = try await ServiceScene(extra: Self.settings)
    let conversation = try await Conversation(scene, [.away()])
    let first = try await scene.startService()
    try await first.asleep(in: scene)
    try await first.process.signal(SIGKILL)
    _ = try await first.process.exitCode()
    let missed = try await conversation.say()
    let services = [try await scene.startService(), try await scene.startService()]
    #expect(try await scene.pushes(of: missed, atLeast: 1).count == 1)
    for service in services { try await service.asleep(in: scene) }
    // Whichever is woken has all conversations at once.
    #expect(try await scene.sql("select count(owner) from tacet.shards") == "0")
    let told = try await conversation.say()
    #expect(try await services[1].webhook(#"{"message_id":"\#(told)"}"#).status == 200)
    #expect(try await scene.pushes(of: told, atLeast: 1).count == 1)
    #expect(MetricsScrape(try await services[0].get("/metrics").text).sum("tacet_database_asleep") == 1)
    for service in services { try await service.stop() }
    #expect(scene.simulator.service.withLog { $0.total } == 2)
    await scene.simulator.stop()
  }
}

extension RunningService {
  /// Waits until the service says that it sleeps, and has closed its sessions.
  fileprivate func asleep(in scene: ServiceScene) async throws {
    let scrape = try await scrape { $0.sum("tacet_database_asleep") == 1 }
    #expect(scrape.sum("tacet_database_asleep") == 1)
    let deadline = ContinuousClock.now + .seconds(60)
    while try await scene.sessions() > 0 {
      guard ContinuousClock.now < deadline else { throw TestProcessError(description: "sessions stay open") }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}

extension ServiceScene {
  /// Sessions that are open, without the one that asks.
  fileprivate func sessions() async throws -> Int {
    try #require(
      Int(
        try await sql(
          """
          select count(*) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
          """)))
  }

  /// Sessions that were ever opened. A new one is in the statistics when it ends, which is a moment after its client has gone; so
  /// this waits until it is the only one.
  fileprivate func sessionsOpened() async throws -> Int {
    let others = """
      exists (
        select from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend')
      """
    let count = try await sql(
      """
      do $$ begin
        for i in 1..2000 loop
          exit when not \(others);
          perform pg_sleep(0.01), pg_stat_clear_snapshot();
        end loop;
        perform pg_stat_clear_snapshot();
      end $$;
      select sessions from pg_stat_database where datname = current_database()
      """)
    return try #require(Int(count))
  }

  /// Waits until some session has looked for work so often.
  fileprivate func awaitLooks(_ count: Int) async throws {
    try await sql(
      """
      do $$
      declare
        looks int := 0;
        newest timestamptz := clock_timestamp();
        found timestamptz;
        deadline timestamptz := newest + interval '60 s';
      begin
        while looks < \(count) loop
          if clock_timestamp() > deadline then raise '% looks in 60 s', looks; end if;
          perform pg_sleep(0.02), pg_stat_clear_snapshot();
          select max(a.query_start) into found from pg_stat_activity a
          where a.datname = current_database() and a.pid <> pg_backend_pid() and a.query like '%from tacet.inbox i%';
          if found > newest then
            looks := looks + 1;
            newest := found;
          end if;
        end loop;
      end $$
      """)
  }
}
