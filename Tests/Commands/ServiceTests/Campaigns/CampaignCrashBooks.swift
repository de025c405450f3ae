import Foundation
import Simulators

/// The books of a run: who was to be pushed, what was decided, what was sent, what arrived; and whether they balance.
struct CampaignCrashBooks {
  /// A user's decision of one campaign.
  struct Decision {
    let campaign: String
    let user: String
    let decision: String
    let reason: String
  }

  let users: [CoachUser]
  let decisions: [Decision]
  /// Pushes that were queued, by user.
  let queued: [String: [String]]
  /// Pushes that the ledger calls sent, by user and the user's day; without those that were there before.
  let ledger: [String: [String]]
  /// Accepted pushes by device: their identifiers by what they collapse.
  let wire: [String: [String: [String]]]
  private let kills: Int
  private let runs: Int
  private let modelCalls: Int

  init(_ run: CampaignCrashRun) async throws {
    (users, kills, runs) = (run.users, run.kills, run.runs)
    let scene = run.coach.scene
    let rows = try await scene.rows(
      "select campaign, user_id, coalesce(decision, 'none'), coalesce(reason, '') from tacet.campaign_decisions")
    decisions = rows.map { Decision(campaign: $0[0], user: $0[1], decision: $0[2], reason: $0[3]) }
    queued = Self.grouped(try await scene.rows("select user_id, id from tacet.pushes"))
    let zone = run.coach.zone
    ledger = Self.grouped(
      try await scene.rows(
        """
        select user_id || ' ' || (sent_at at time zone '\(zone)')::date, subject_id
        from tacet.push_log where decision = 'sent' and subject_id is not null
        """))
    var wire: [String: [String: [String]]] = [:]
    var query = PushQuery()
    query.limit = PushQuery.limitMax
    for record in scene.simulator.service.withLog({ [query] in $0.records(query).records }) where record.status == 200 {
      wire[record.token.lowercased(), default: [:]][record.collapseID ?? "none", default: []].append(record.identifier)
    }
    self.wire = wire
    modelCalls = run.coach.model.model.statistics.total
  }

  private static func grouped(_ rows: [[String]]) -> [String: [String]] {
    Dictionary(grouping: rows, by: { $0[0] }).mapValues { $0.map { $0[1] } }
  }

  private var pushed: Set<String> { Set(queued.keys) }
  private var committed: [Decision] { decisions.filter { $0.decision == "committed" } }

  /// Everything that must not be.
  var violations: [String] { doubled + undecided + strangers + unbalanced + forgotten }

  /// More than one push on a day, in any of the books.
  private var doubled: [String] {
    queued.filter { $0.value.count > 1 }.map { "\($0.value.count) pushes queued for \($0.key)" }
      + ledger.filter { $0.value.count > 1 }.map { "\($0.value.count) pushes in the ledger for \($0.key)" }
      + wire.filter { $0.value.count > 1 }.map { "\($0.value.count) pushes shown by \($0.key)" }
      + wire.flatMap { device, pushes in
        pushes.filter { Set($0.value).count > 1 }.map { "\(device) has \($0.key) under several identifiers" }
      }
  }

  /// Each eligible user has exactly one decision of each campaign; or none, when the other one had pushed before.
  private var undecided: [String] {
    let counts = Dictionary(grouping: decisions, by: { $0.campaign + $0.user }).mapValues(\.count)
    return decisions.filter { $0.decision == "none" }.map { "\($0.campaign) has not decided about \($0.user)" }
      + users.filter(\.situation.isEligible).flatMap { user in
        ["coach", "evening"].filter { campaign in
          let count = counts[campaign + user.id] ?? 0
          return count != 1 && !(count == 0 && pushed.contains(user.id))
        }.map { "\($0) has decided \(counts[$0 + user.id] ?? 0) times about \(user.situation) \(user.id)" }
      }
  }

  /// Whoever may not be pushed, and was.
  private var strangers: [String] {
    let eligible = users.filter(\.situation.isEligible)
    let devices = Set(eligible.flatMap(\.devices))
    return users.filter { !$0.situation.isEligible && pushed.contains($0.id) }.map { "pushed \($0.situation) \($0.id)" }
      + wire.keys.filter { !devices.contains($0) }.map { "\($0) is no eligible user's" }
  }

  /// What was committed, queued, recorded as sent and accepted are the same pushes.
  private var unbalanced: [String] {
    let pushes = Set(queued.values.joined())
    let books = [
      ("ledger", Set(ledger.values.joined())), ("wire", Set(wire.values.flatMap(\.keys))),
    ]
    return books.filter { $0.1 != pushes }.map {
      "\($0.0): \(pushes.subtracting($0.1).count) missing, \($0.1.subtracting(pushes).count) not queued"
    } + (committed.count == pushes.count ? [] : ["\(committed.count) committed, \(pushes.count) queued"])
  }

  /// Everybody eligible is pushed once, by one of the campaigns: the second always has something to say. Unless their
  /// processes died under them five times.
  private var forgotten: [String] {
    let exhausted = Set(decisions.filter { $0.reason == "attempts_exhausted" }.map(\.user))
    return users.filter { $0.situation.isEligible && !pushed.contains($0.id) && !exhausted.contains($0.id) }
      .map { "\($0.situation) \($0.id) was not pushed" }
  }

  /// The run in one line.
  var summary: String {
    let eligible = users.count { $0.situation.isEligible }
    let reasons = Dictionary(grouping: decisions.filter { !$0.reason.isEmpty }, by: { "\($0.campaign) \($0.reason)" })
      .sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.count)" }.joined(separator: ", ")
    let by = ["coach", "evening"].map { name in "\(name) \(committed.count { $0.campaign == name })" }
    let accepted = wire.values.flatMap(\.values).reduce(0) { $0 + $1.count }
    let distinct = wire.values.reduce(0) { $0 + $1.count }
    return [
      "\(users.count) users (\(eligible) eligible)", "\(kills) kills", "\(runs) runs",
      "\(committed.count) committed (\(by.joined(separator: ", ")))", "not sent: \(reasons)",
      "\(modelCalls) model calls", "\(distinct) pushes accepted", "wire duplicates \(accepted - distinct)",
    ].joined(separator: "; ")
  }
}

extension ServiceScene {
  /// A query's rows and their columns.
  func rows(_ text: String) async throws -> [[String]] {
    try await sql(text).split(separator: "\n").map {
      $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
  }
}
