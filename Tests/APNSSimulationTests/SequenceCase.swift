import Foundation
import Testing

@testable import APNSSimulation

/// A case of several requests on one or more connections.
struct SequenceCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let steps: [Recipe]

  static func all() throws -> [SequenceCase] {
    try CaseFile.list("sequence_cases", in: CaseFile.load()).map { mapping in
      SequenceCase(
        testDescription: "\(mapping["id"] ?? "?") \(mapping["title"] ?? "")",
        steps: try CaseFile.list("steps", in: mapping).map { Recipe(mapping: $0) })
    }
  }
}

/// Plays a sequence: keeps the connections, the provider tokens minted so far and the time.
struct SequencePlayer {
  private struct Connection {
    var binding = ProviderBinding()
    var conduct = ConnectionConduct(policy: StreamPolicy())
    var lastActions: [ConnectionConduct.Action] = []
  }

  private let defaults: CaseFile.Mapping
  private let fixtures: CaseFixtures
  private var registry: SimulationRegistry
  private var judge = RequestJudge(environment: .production, seed: 1)
  private var connections: [Int: Connection] = [:]
  private var minted: [String: String] = [:]
  private var now: WallInstant

  init() throws {
    let file = try CaseFile.load()
    defaults = try CaseFile.mapping("defaults", in: file)
    fixtures = try CaseFixtures.shared()
    registry = try fixtures.registry()
    now = fixtures.now
  }

  mutating func play(_ step: CaseFile.Mapping) throws {
    let number = step["conn"] as? Int ?? 0
    var connection = connections[number] ?? Connection()
    defer { connections[number] = connection }
    if let seconds = step["advance_s"] as? Int { now.microseconds += Int64(seconds) * 1_000_000 }
    if let push = step["push"] as? CaseFile.Mapping {
      for _ in 0..<(step["repeat"] as? Int ?? 1) {
        try send(push, over: &connection, expecting: CaseFile.mapping("exp", in: step))
      }
    }
    if let settings = step["expect_settings"] as? CaseFile.Mapping {
      #expect(connection.conduct.streams == settings["max_concurrent_streams"] as? Int)
    }
    if step["expect_no_settings"] != nil { #expect(connection.lastActions.isEmpty) }
    if step["expect_goaway"] != nil {
      #expect(connection.lastActions.contains(.goAway(reason: "BadDeviceToken")))
    }
  }

  private mutating func send(
    _ push: CaseFile.Mapping, over connection: inout Connection, expecting expected: CaseFile.Mapping
  ) throws {
    if push["fresh_jwt"] != nil { minted[push["jwt"] as? String ?? "ok"] = nil }
    let request = try CaseRequest(push, defaults: defaults, fixtures: fixtures) { name in
      if let known = minted[name] { return known }
      let text = try fixtures.mint(name, at: now)
      minted[name] = text
      return text
    }
    let verdict = judge.judge(request.inspected, binding: &connection.binding, registry: &registry, now: now)
    connection.lastActions = connection.conduct.answered(status: verdict.status, reason: verdict.reason)
    #expect(verdict.status == expected["status"] as? Int)
    #expect(verdict.reason == expected["reason"] as? String)
    if let timestamp = expected["timestamp_ms"] as? Int { #expect(verdict.timestampMilliseconds == Int64(timestamp)) }
  }
}
