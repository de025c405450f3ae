import Foundation
import PushRules
import Reactors
import Synchronization
import TestIDs
import Testing

@testable import PushPipeline

@Suite("The model of bursts", .serialized, .uuidsOnly)
struct FoldModelTests {
  private static let worldSize = 250
  private static let steps = 14
  private static let window = Duration.seconds(20)

  @Test(
    "random timelines: one sound a window, the newest message on the screen, nothing lost, no update after the window")
  func timelines() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["FOLD_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    let count = environment["FOLD_TIMELINES"].flatMap { Int($0) } ?? 2000
    let tally = Tally()
    for first in stride(from: 0, to: count, by: Self.worldSize) {
      try await play(first..<min(first + Self.worldSize, count), seed: seed, into: tally)
    }
    print("fold model: seed \(seed), \(count) timelines, \(tally.text)")
    #expect(tally.violations == [])
    #expect(tally.updates > 0)
  }

  private func play(_ numbers: Range<Int>, seed: UInt64, into tally: Tally) async throws {
    try await PipelineRig.run(window: .seconds(10), configure: Self.configure) { rig, reactor in
      let timelines = numbers.map { FoldTimeline(number: $0, steps: Self.steps, seed: seed) }
      let world = try await FoldWorld(
        timelines, window: 20_000_000, seed: ~seed &+ UInt64(numbers.lowerBound), in: rig, on: reactor)
      try await world.run(steps: Self.steps, on: reactor)
      tally.add(world.oracles, from: numbers.lowerBound, leftovers: try await world.leftovers(on: reactor))
      if let broken = world.oracles.firstIndex(where: { !$0.violations.isEmpty }) {
        print("timeline \(numbers.lowerBound + broken):\n\(try await world.story(of: broken, on: reactor))")
      }
      rig.channel.delays = { _ in false }
      rig.channel.answer = { _, _ in .accepted }
    }
  }

  /// No lease ends on a slow machine, and nothing writes while time is being moved.
  private static let configure: @Sendable (inout PipelineConfiguration) -> Void = {
    $0.folding = FoldPolicy(window: window)
    $0.lease = .seconds(3600)
    $0.pushLimit = .seconds(600)
    $0.holdReviewWait = .seconds(3600)
    $0.lanes.breaker = .quick
  }
}

/// Sums over worlds.
private final class Tally: Sendable {
  private struct Sums {
    var messages = 0
    var sounds = 0
    var updates = 0
    var violations: [String] = []
  }

  private let sums = Mutex(Sums())

  func add(_ oracles: [FoldOracle], from first: Int, leftovers: Int64) {
    sums.withLock { sums in
      for (place, oracle) in oracles.enumerated() {
        sums.messages += oracle.messages
        sums.sounds += oracle.sounds
        sums.updates += oracle.updates
        sums.violations += oracle.violations.map { "timeline \(first + place): \($0)" }
      }
      if leftovers > 0 { sums.violations.append("\(leftovers) pieces of work or messages are left") }
    }
  }

  var violations: [String] { sums.withLock { Array($0.violations.prefix(20)) } }
  var updates: Int { sums.withLock(\.updates) }

  var text: String {
    sums.withLock { "\($0.messages) messages, \($0.sounds) pushes with sound, \($0.updates) silent updates" }
  }
}
