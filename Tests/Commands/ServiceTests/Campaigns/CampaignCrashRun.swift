import Foundation
import Simulators
import Synchronization
import TestRandomness
import Testing

/// Two replicas that run two campaigns over the same people while they are killed, and the books afterwards.
final class CampaignCrashRun {
  /// Fewer would prove little.
  static let killsMin = 6
  private static let settlingLimit = Duration.seconds(120)

  let coach: CoachScene
  private let replicas: [CampaignReplica]
  private let seed: UInt64
  private let seconds: Int
  private var generator: SeededGenerator
  private(set) var users: [CoachUser] = []
  private(set) var kills = 0
  private(set) var runs = 0

  init(seed: UInt64, seconds: Int) async throws {
    self.seed = seed
    self.seconds = seconds
    var generator = SeededGenerator(seed: seed)
    // How long the model takes goes by the first digit of the user's id, which stands in the prompt.
    let delays = (0..<8).map { _ in Int.random(in: 50...200, using: &generator) }
    let rules = zip("01234567", delays).map { digit, delay in
      ModelScript.Rule(match: "engineer \(digit)", steps: [.init(.reply(), delayMilliseconds: delay)])
    }
    let others = ModelScript.Rule(steps: [.init(.reply(), delayMilliseconds: 120)])
    coach = try await CoachScene(ModelScript(rules: rules + [others]), settings: ["LOG_LEVEL": "notice"])
    let settings = coach.scene.settings
    replicas = ["first", "second"].map { CampaignReplica($0, settings) }
    self.generator = generator
  }

  /// Plays it until everything is decided and recorded.
  func play() async throws -> CampaignCrashBooks {
    try await coach.addEvening()
    try await coach.scene.sql(ClaimOwners.creation)
    for replica in replicas { try await replica.start() }
    let end = ContinuousClock.now + .seconds(seconds)
    try await enter(eligible: 30, others: 6)
    while kills < Self.killsMin || ContinuousClock.now < end {
      try await disrupt()
      if try await undecided() == 0 { try await enter(eligible: 10, others: 2) }
    }
    try await settle()
    return try await CampaignCrashBooks(self)
  }

  /// More people, and three overlapping runs.
  private func enter(eligible: Int, others: Int) async throws {
    let more = CoachUser.Situation.allCases.flatMap { situation in
      (0..<(situation.isEligible ? eligible : others)).map { _ in CoachUser(situation) }
    }
    users += more
    try await coach.add(more)
    // The same user at the same moment in both replicas, for two campaigns: only the lock of the cap is between them.
    for user in more.filter(\.situation.isEligible).shuffled(using: &generator).prefix(10) {
      try await trigger(["coach&user_id=\(user.id)", "evening&user_id=\(user.id)"])
    }
    try await trigger(["coach", "evening", "coach"])
  }

  /// Runs at the same time, by one replica and the other in turn.
  private func trigger(_ queries: [String]) async throws {
    let origins = [await replicas[0].origin, await replicas[1].origin]
    try await withThrowingTaskGroup { group in
      for (number, query) in queries.enumerated() {
        group.addTask {
          let path = "/v1/push-trigger?campaign=" + query
          let answer = try await HTTPAnswer.ask("POST", path, at: origins[number % 2], prefer: "respond-async")
          #expect([200, 202].contains(answer.status), "\(answer.text)")
        }
      }
      try await group.waitForAll()
    }
    runs += queries.count
  }

  /// Kills one replica, or both, at some moment, and starts it again.
  private func disrupt() async throws {
    try await Task.sleep(for: .milliseconds(Int.random(in: 150...1200, using: &generator)))
    let isBoth = Int.random(in: 0..<5, using: &generator) == 0
    let first = Int.random(in: 0...1, using: &generator)
    let victims = isBoth ? replicas : [replicas[first]]
    for replica in victims { try await replica.kill() }
    kills += victims.count
    try await expireLeases()
    try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &generator)))
    for replica in victims { try await replica.start() }
    try await expireLeases()
  }

  /// What a killed process had claimed is free now instead of in a minute.
  private func expireLeases() async throws {
    var dead: [String] = []
    for replica in replicas { dead += await replica.dead }
    try await coach.scene.sql(ClaimOwners.expiry(of: dead))
  }

  private func undecided() async throws -> Int {
    Int(try await coach.scene.sql("select count(*) from tacet.campaign_decisions where decision is null")) ?? -1
  }

  /// Waits until everything is decided, sent and recorded. There is nothing to wait on but the tables.
  private func settle() async throws {
    let deadline = ContinuousClock.now + Self.settlingLimit
    while true {
      try await expireLeases()
      let (undecided, unfinished) = (try await undecided(), try await coach.scene.unfinished())
      if undecided == 0, unfinished.isEmpty { return }
      try #require(ContinuousClock.now < deadline, "seed \(seed): \(undecided) undecided, \(unfinished)")
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// Ends everything; the replicas' exit codes.
  func stop() async throws -> [Int] {
    var codes: [Int] = []
    for replica in replicas { codes.append(try await replica.stop()) }
    await coach.stop()
    return codes
  }
}
