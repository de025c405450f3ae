import Foundation
import Simulators
import Testing

@Suite("Threads", .serialized)
struct ThreadTests {
  @Test("no job on the message path comes from another thread, and only the reactors' threads use the processor")
  func messagePath() async throws {
    try await ServiceScene.play(extra: ["REACTORS": "1"]) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let first = try await conversation.say()
      _ = try await scene.pushes(of: first, atLeast: 1)
      let id = try await service.process.id
      let jobsBefore = try await service.counter("tacet_reactor_jobs_from_other_threads_total")
      let before = try processorTicks(of: id)
      let count = 500
      try await conversation.burst(of: count)
      #expect(await scene.simulator.waitForPushes(count + 1, within: .seconds(30)))
      let after = try processorTicks(of: id)
      let jobsAfter = try await service.counter("tacet_reactor_jobs_from_other_threads_total")
      #expect(jobsAfter == jobsBefore)
      for (thread, ticks) in after where thread.name != "reactor-0" {
        #expect(ticks == before[thread, default: 0], "\(thread.name) used the processor")
      }
    }
  }

  private struct ThreadName: Hashable {
    let id: String
    let name: String
  }

  /// User and system time of each thread, in clock ticks.
  private func processorTicks(of process: pid_t) throws -> [ThreadName: Int] {
    let folder = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { ticks, id in
      let stat = try String(contentsOfFile: "\(folder)/\(id)/stat", encoding: .utf8)
      let name = stat[stat.index(after: stat.firstIndex(of: "(")!)..<stat.lastIndex(of: ")")!]
      let columns = stat[stat.lastIndex(of: ")")!...].split(separator: " ")
      ticks[ThreadName(id: id, name: String(name))] = (Int(columns[12]) ?? 0) + (Int(columns[13]) ?? 0)
    }
  }
}
