import Reactors

/// Scenario `start`: the time to become ready, and the idle footprint.
struct StartRun {
  private static let starts = 5
  private static let idleTime = Duration.seconds(2)

  let bench: ServiceBench
  let subject: SubjectBench

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    var times = LatencyHistogram()
    var memory: [String: Double] = [:]
    for start in 1...Self.starts {
      memory = try await bench.withService(of: subject, on: reactor) { service in
        times.record(nanoseconds: service.readyAfter)
        if start == Self.starts { await reactor.sleep(for: Self.idleTime) }
        return service.memoryFigures
      }
    }
    return memory.merging(["ready_ms": times.milliseconds(at: 50), "ready_max_ms": times.millisecondsMax]) { $1 }
  }
}
