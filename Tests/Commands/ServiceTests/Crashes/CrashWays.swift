import TestProcesses
import Testing

/// How a run is played; ``CrashTests`` says how the environment chooses.
struct CrashWays: Equatable {
  /// The service's default.
  private static let foldSecondsDefault = 20

  /// How long disruptions go on.
  let seconds: Int
  let seed: UInt64
  /// How long the messages of a burst share a notification; 0 gives each its own.
  let foldSeconds: Int
  /// How the replicas reach the database.
  let route: DatabaseRoute
  /// A third replica joins or leaves every so many seconds; 0 for never.
  let joiningSeconds: Int

  init(_ environment: [String: String]) throws {
    func value<Value>(_ name: String, _ read: (String) -> Value?) throws -> Value? {
      guard let text = environment[name], !text.isEmpty else { return nil }
      guard let value = read(text) else { throw TestProcessError(description: "\(name) cannot be \(text)") }
      return value
    }
    let seed = try value("CRASH_SEED") { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    self.seed = seed
    seconds = try value("CRASH_SECONDS") { Int($0) } ?? 60
    foldSeconds =
      try value("CRASH_FOLDING") { ["off": 0, "on": Self.foldSecondsDefault][$0] ?? Int($0) }
      ?? (seed.isMultiple(of: 2) ? Self.foldSecondsDefault : 0)
    route = try value("CRASH_ROUTE") { DatabaseRoute(rawValue: $0) } ?? .direct
    joiningSeconds = try value("CRASH_JOINING") { Int($0) } ?? 10
  }

  /// In words.
  var summary: String {
    [
      "seed \(seed)", "\(seconds) s", foldSeconds == 0 ? "not folding" : "folding for \(foldSeconds) s", route.rawValue,
      joiningSeconds == 0 ? "nobody joins" : "joining every \(joiningSeconds) s",
    ].joined(separator: ", ")
  }
}

@Suite("The ways to play a crash run")
struct CrashWaysTests {
  @Test("are the environment's, and without a word the seed decides whether bursts fold")
  func choices() throws {
    let even = try CrashWays(["CRASH_SEED": "8"])
    #expect(even.summary == "seed 8, 60 s, folding for 20 s, direct, joining every 10 s")
    #expect(try CrashWays(["CRASH_SEED": "7"]).foldSeconds == 0)
    let other = try CrashWays([
      "CRASH_SEED": "8", "CRASH_SECONDS": "600", "CRASH_FOLDING": "off", "CRASH_ROUTE": "pooled", "CRASH_JOINING": "0",
    ])
    #expect(other.summary == "seed 8, 600 s, not folding, pooled, nobody joins")
    #expect(try CrashWays(["CRASH_SEED": "7", "CRASH_FOLDING": "on"]).foldSeconds == 20)
    #expect(try CrashWays(["CRASH_FOLDING": "4"]).foldSeconds == 4)
    #expect(throws: TestProcessError.self) { try CrashWays(["CRASH_ROUTE": "bent"]) }
  }
}
