import Foundation
import Simulators
import Synchronization
import TestPostgres
import TestProcesses

/// Lets the disruptions of a schedule happen, and notes for each how much was at stake.
final class Disruptor: Sendable {
  /// Requests that were written before the strike and are read after it.
  static let slackMicroseconds: Int64 = 250_000

  let scene: ServiceScene
  let replicas: [Replica]
  private let content = Mutex<[DisruptionRecord]>([])

  var records: [DisruptionRecord] { content.withLock { $0 } }

  init(_ scene: ServiceScene, _ replicas: [Replica]) {
    self.scene = scene
    self.replicas = replicas
  }

  /// Plays a schedule. When it returns, everything is in service again.
  func play(_ schedule: [Disruption]) async throws {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for disruption in schedule {
        try await Task.sleep(until: start + .milliseconds(disruption.atMilliseconds))
        if let mending = try await strike(disruption) { group.addTask { try await mending() } }
      }
      try await group.waitForAll()
    }
    scene.simulator.service.withFaults { $0.removeAll() }
  }

  /// What ends a disruption, for those that last while others begin.
  private typealias Mending = @Sendable () async throws -> Void

  private func strike(_ disruption: Disruption) async throws -> Mending? {
    let beganAt = SimulationClock.wall.microseconds
    let unsafe = try await unsafeWork(beforeCrash: disruption.isCrash)
    let mending = try await perform(disruption.kind)
    let struckAt = SimulationClock.wall.microseconds
    content.withLock {
      $0.append(
        DisruptionRecord(
          name: disruption.name, isCrash: disruption.isCrash, beganAt: beganAt, struckAt: struckAt, unsafeWork: unsafe))
    }
    return mending
  }

  private func perform(_ kind: Disruption.Kind) async throws -> Mending? {
    let replicas = replicas
    switch kind {
    case .killReplica(let number, let away):
      guard try await replicas[number].kill() else { return nil }
      return {
        try await Task.sleep(for: .milliseconds(away))
        try await replicas[number].start()
      }
    case .pauseReplica(let number, let milliseconds):
      guard try await replicas[number].signal(SIGSTOP) else { return nil }
      return {
        try await Task.sleep(for: .milliseconds(milliseconds))
        _ = try await replicas[number].signal(SIGCONT)
      }
    case .restartPostgres(let end, let away):
      try await restartPostgres(end, away: away)
    case .strike(let fault):
      scene.simulator.connections.strike(fault)
    case .script(let fault, let times, let milliseconds):
      scene.simulator.service.withFaults { script in _ = script.append(.init(fault, times: times)) }
      try await Task.sleep(for: .milliseconds(milliseconds))
      scene.simulator.service.withFaults { $0.removeAll() }
    case .unavailable(let digits, let times):
      scene.simulator.answerUnavailable(toTokensFrom: digits, times: times)
    case .refuseConnections(let milliseconds):
      await scene.simulator.suspend()
      try await Task.sleep(for: .milliseconds(milliseconds))
      try await scene.simulator.resume()
    }
    return nil
  }

  private func restartPostgres(_ end: Disruption.PostgresEnd, away: Int) async throws {
    switch end {
    case .fast: try await scene.postgres.stop(.fast)
    case .immediate: try await scene.postgres.stop(.immediate)
    case .kill: try await scene.postgres.kill()
    }
    try await Task.sleep(for: .milliseconds(away))
    try await scene.postgres.start()
  }

  /// Read from the database, which is up between two disruptions. Two seconds are more than three rounds of the WAL
  /// writer, after which no commit can be forgotten any more.
  private func unsafeWork(beforeCrash isCrash: Bool) async throws -> Set<DisruptionRecord.Work> {
    let text = try await scene.patientSQL(
      """
      select i.subject_id, null from tacet.inbox i where i.available_at > now()
      union all
      select d.subject_id, d.user_id from tacet.deliveries d
      where coalesce((to_jsonb(d) ->> 'is_claimed')::boolean, true)
      union all
      select l.subject_id, l.user_id from tacet.push_log l
      where \(isCrash) and pg_xact_commit_timestamp(l.xmin) > now() - interval '2 seconds'
      """)
    return Set(
      text.split(separator: "\n").map { line in
        let columns = line.split(separator: "|")
        return DisruptionRecord.Work(message: String(columns[0]), user: columns.count > 1 ? String(columns[1]) : nil)
      })
  }
}

extension APNSSimulator {
  /// Answers the next pushes to some of the devices with the 503 that asks for another connection. The other reasons of
  /// a 503 make a client wait for a quarter of an hour, which is longer than the run.
  fileprivate func answerUnavailable(toTokensFrom digits: String, times: Int) {
    service.withRegistry { registry in
      for (token, device) in registry.devices where token.first.map(digits.contains) == true {
        var device = device
        device.answers = [ScriptedAnswer(status: 503, reason: "Shutdown", times: times)]
        registry.register(device, token: token)
      }
    }
  }
}
