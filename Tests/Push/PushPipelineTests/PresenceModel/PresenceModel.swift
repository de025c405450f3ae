import Foundation
import PushRules
import Reactors
import Synchronization
import TestRandomness

@testable import PushPipeline

/// Runs random timelines against the product and the oracle.
struct PresenceModel: Sendable {
  /// Timelines that share a database and the times of their steps.
  private static let worldSize = 250

  /// Real time that a step may take before window ends can fall into it.
  private static let guardTime: Int64 = 2_000_000

  let seed: UInt64
  var timelines: Int
  var steps = 24
  /// What the requirements ask for.
  var windowSeconds: Int64 = 60
  /// What the product is told.
  var productWindow = Duration.seconds(60)
  /// SQL that breaks the product.
  var sabotage = ""

  /// As the environment asks: `PRESENCE_SEED`, or a random one, and `PRESENCE_TIMELINES`.
  static func fromEnvironment(timelines: Int) -> PresenceModel {
    let environment = ProcessInfo.processInfo.environment
    return PresenceModel(
      seed: environment["PRESENCE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000),
      timelines: environment["PRESENCE_TIMELINES"].flatMap { Int($0) } ?? timelines)
  }

  func run() async throws -> PresenceReport {
    var report = PresenceReport()
    for (world, first) in stride(from: 0, to: timelines, by: Self.worldSize).enumerated() {
      let count = min(Self.worldSize, timelines - first)
      let plans = (first..<(first + count)).map { number in
        var generator = SeededGenerator(seed: seed, part: number)
        return TimelinePlan.random(steps: steps, using: &generator)
      }
      report += try await run(plans, at: times(ofWorld: world))
    }
    return report
  }

  /// A story of the same gravity with as few actions as can be left.
  func shrunk(_ story: PresenceStory) async throws -> PresenceStory {
    var smallest = story
    while true {
      let report = try await run(smallest.plan.shorter, at: story.times)
      guard let next = report.stories.first, next.property <= story.property else { return smallest }
      smallest = next
    }
  }

  /// The times of the steps; those of different worlds differ.
  private func times(ofWorld number: Int) -> [Int64] {
    var generator = SeededGenerator(seed: ~seed, part: number)
    return TimelinePlan.times(
      steps: steps, window: windowSeconds * 1_000_000, guardTime: Self.guardTime, using: &generator)
  }

  private func run(_ plans: [TimelinePlan], at times: [Int64]) async throws -> PresenceReport {
    let result = ReportBox()
    try await PipelineRig.run(window: productWindow, configure: Self.configure) { [self] rig, reactor in
      let world = try await PresenceWorld(
        plans, window: windowSeconds * 1_000_000, sabotage: sabotage, in: rig, on: reactor)
      let report = try await world.run(times, on: reactor)
      result.value.withLock { $0 = report }
    }
    return result.value.withLock(\.self)
  }

  /// Few round trips, no lease that ends on a slow machine, and no review that writes while time is being moved: the
  /// model has no two transactions at the same time.
  private static let configure: @Sendable (inout PipelineConfiguration) -> Void = {
    $0.lease = .seconds(3600)
    $0.holdReviewWait = .seconds(3600)
    $0.eventsPerClaimMax = 1000
    $0.deliveriesPerClaimMax = 1000
  }
}

/// Carries a report out of the rig's closure.
private final class ReportBox: Sendable {
  let value = Mutex(PresenceReport())
}
