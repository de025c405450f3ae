import FoundationEssentials
import Postgres
import Reactors
import Testing

@testable import API

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
        let deadline = ContinuousClock.now + .seconds(10)
        while await rig.parts.perform({ parts, _ in parts.channel.count }) == 0 {
          try #require(ContinuousClock.now < deadline)
        }
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
