import FoundationEssentials
import HTTP1
import HTTPTypes
import Reactors
import TestLogs
import Testing

@testable import API
@testable import Postgres

@Suite("The routes for operators")
struct HealthRoutesTests {
  private func get(_ path: String, of rig: ServiceRig) async throws -> PlainResponse {
    try await PlainClient.ask("GET", path, port: rig.port)
  }

  @Test("liveness needs nothing but the reactor")
  func health() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let response = try await get("/healthz", of: rig)
      #expect(response.status == 200)
      #expect(response.body == #"{"status":"ok"}"#)
    }
  }

  @Test("readiness is 200 when every check is well, and 503 with the reason when one is not")
  func readiness() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      await rig.parts.perform { parts, _ in parts.checks = [ReadinessCheck("database", isReady: true)] }
      let well = try await get("/readyz", of: rig)
      #expect(well.status == 200)
      #expect(well.body == #"{"checks":[{"name":"database","ready":true}],"ready":true}"#)
      await rig.parts.perform { parts, _ in
        parts.checks.append(ReadinessCheck("apns", isReady: false, detail: "no route"))
      }
      let ill = try await get("/readyz", of: rig)
      #expect(ill.status == 503)
      let checks = #"{"name":"database","ready":true},{"detail":"no route","name":"apns","ready":false}"#
      #expect(ill.body == #"{"checks":[\#(checks)],"ready":false}"#)
    }
  }

  @Test("figures and the description of the interface are served under their media types")
  func texts() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let metrics = try await get("/metrics", of: rig)
      #expect(metrics.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(metrics.body.hasPrefix("reactor_name{"))
      let description = try await get("/openapi.yaml", of: rig)
      #expect(description.status == 200)
      #expect(description.fields["content-type"] == "application/yaml")
      #expect(!description.body.isEmpty)
    }
  }

  @Test("other paths are 404, other methods 405")
  func elsewhere() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      #expect(try await get("/v1/webhooks", of: rig).status == 404)
      let response = try await get("/v1/webhooks/messages", of: rig)
      #expect(response.status == 405)
      #expect(response.fields["allow"]?.contains("POST") == true)
    }
  }
}

@Suite("What a caller is told when the database did not do it")
struct DatabaseProblemTests {
  @Test(
    "503 when the request may be sent again, 500 when that does not help",
    arguments: [
      ("57014", 503), ("57P01", 503), ("08006", 503), ("53300", 503), ("40001", 503), ("55P03", 503), ("26000", 503),
      ("42703", 500), ("23514", 500), ("22P02", 500), ("42501", 500),
    ])
  func status(_ state: String, _ expected: Int) {
    let error = PostgresError(.server, context: .init(sqlState: SQLState(state)))
    #expect(ProblemDetails.database(error, "", RunLogs.logger).status.code == expected)
  }
}

@Suite("Sessions of callers and of the pipeline")
struct CallerSessionsTests {
  /// Sessions of a pool that are lent until they are given back.
  private final class Loan {
    private var signals: [Signal] = []

    func take(_ count: Int, of pool: PostgresPool, on reactor: isolated Reactor) async {
      for _ in 0..<count {
        let signal = Signal()
        signals.append(signal)
        reactor.start { try? await pool.withConnection(on: reactor) { _ in _ = await signal.wait(on: reactor) } }
      }
      // The sessions open in the background; nothing says when.
      while pool.usage.inUse < count { await reactor.sleep(for: .milliseconds(1)) }
    }

    func giveBack(on reactor: isolated Reactor) {
      for signal in signals { signal.signal(on: reactor) }
    }
  }

  /// Runs a body while every session of a pool is lent.
  private static func withoutSessions(
    _ pool: @escaping @Sendable (ServiceRig.Parts) -> PostgresPool, _ count: Int, of rig: ServiceRig,
    _ body: () async throws -> Void
  ) async throws {
    let loan = await rig.parts.perform { parts, reactor in
      let loan = Loan()
      await loan.take(count, of: pool(parts), on: reactor)
      return ReactorBound(loan, on: reactor)
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    await loan.perform { $0.giveBack(on: $1) }
    try result.get()
  }

  @Test("a webhook makes the pipeline push while every session of callers is busy, and is answered afterwards")
  func busyCallers() async throws {
    try await ServiceRig.run(polls: false) { rig in
      rig.startPipeline()
      let (message, _) = try await rig.makeMessage()
      var answer: Task<PlainResponse, any Error>?
      try await Self.withoutSessions({ $0.callerPool }, 2, of: rig) {
        answer = Task { try await rig.webhook(#"{"message_id":"\#(message)"}"#) }
        try #require(await rig.parts.perform { parts, reactor in await parts.channel.requested(on: reactor) })
      }
      #expect(try await answer?.value.body.contains(#""sent":true"#) == true)
    }
  }

  @Test("apps, webhooks and other servers are answered while every session of the pipeline is busy")
  func busyPipeline() async throws {
    try await ServiceRig.run { rig in
      let (message, user) = try await rig.makeMessage()
      try await Self.withoutSessions({ $0.pool }, 3, of: rig) {
        #expect(try await rig.ask("GET", "/v1/preferences", as: user).status == 200)
        let webhook = try await rig.webhook(#"{"message_id":"\#(message)"}"#, prefer: "respond-async")
        #expect(webhook.status == 202)
        let push = #"{"user_id":"\#(user)","title":"Hello","body":"There"}"#
        let submitted = try await rig.ask(
          "POST", "/v1/pushes", body: push, fields: ["Prefer": "respond-async"])
        #expect(submitted.status == 202)
      }
    }
  }
}
