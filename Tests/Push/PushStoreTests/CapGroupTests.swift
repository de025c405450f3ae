import Foundation
import Postgres
import PushRules
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

@Suite("Cap groups of campaigns", .uuidsOnly)
struct CapGroupTests {
  @Test("each group has its own cap, even where the push types are the same; campaigns of a group share one")
  func independent() async throws {
    let scene = try await CampaignScene()
    try await scene.addCampaign("nudge")
    try await scene.addCampaign("habit", ["cap_group": "'habit'"])
    try await scene.addCampaign("evening", ["cap_group": "'habit'"])
    let user = try await scene.addUser()
    #expect(try await Self.send("coach", in: scene) == "sent")
    #expect(try await scene.isEligible(user, at: "now", campaign: "nudge") == false)
    #expect(try await Self.send("habit", in: scene) == "sent")
    #expect(try await scene.isEligible(user, at: "now", campaign: "evening") == false)
    for campaign in ["coach", "nudge", "habit", "evening"] {
      #expect(try await Self.refusal(of: user, campaign: campaign, in: scene) == "pushed_today", "\(campaign)")
    }
    let caps = try await scene.database.sql(
      "select cap_group, committed_at is not null from tacet.frequency_caps order by 1")
    #expect(caps == "check_in|t\nhabit|t")
  }

  @Test("a push in the ledger counts for its campaign's group; for every group with its type when it names no campaign")
  func ledger() async throws {
    let scene = try await CampaignScene()
    try await scene.addCampaign("habit", ["cap_group": "'habit'"])
    try await scene.addCampaign("birthday", ["cap_group": "null"])
    try await scene.addCampaign("other", pushTypes: "{occasion}", ["cap_group": "'other'"])
    let user = try await scene.addUser()
    for (metadata, open) in [
      (#"{"campaign": "coach"}"#, ["habit", "birthday", "other"]),
      (#"{"campaign": "habit"}"#, ["coach", "birthday", "other"]),
      (#"{"campaign": "birthday"}"#, ["coach", "habit", "birthday", "other"]),
      (#"{"campaign": "removed"}"#, ["birthday", "other"]), ("{}", ["birthday", "other"]),
      ("[]", ["birthday", "other"]),
    ] {
      let push = """
        insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, metadata)
        values (gen_random_uuid(), '\(user)', 'event_based', 'sent', now(), '\(metadata)')
        """
      for campaign in ["coach", "habit", "birthday", "other"] {
        let isEligible = try await scene.isEligible(user, at: "now", campaign: campaign, after: push)
        #expect(isEligible == open.contains(campaign), "\(metadata) \(campaign)")
      }
    }
  }

  @Test("without a group there is no cap: two campaigns push on one day and leave no row; a session keeps them back")
  func uncapped() async throws {
    let scene = try await CampaignScene()
    for campaign in ["first", "second", "third"] { try await scene.addCampaign(campaign, ["cap_group": "null"]) }
    let user = try await scene.addUser()
    #expect(try await Self.send("coach", in: scene) == "sent")
    #expect(try await Self.send("first", in: scene) == "sent")
    #expect(try await Self.send("second", in: scene) == "sent")
    #expect(
      try await scene.database.sql("select string_agg(cap_group, ' ') from tacet.frequency_caps") == "check_in")
    #expect(try await scene.database.sql("select count(*) from tacet.pushes") == "3")
    try await scene.database.sql("insert into conversations (owner_id) values ('\(user)')")
    #expect(try await scene.isEligible(user, at: "now", campaign: "third") == false)
    #expect(try await Self.refusal(of: user, campaign: "third", in: scene) == "session_today")
  }

  @Test("a new campaign has no group, and a group's name is like that of a kind")
  func names() async throws {
    let scene = try await CampaignScene()
    try await scene.database.sql(
      """
      insert into tacet.campaigns (name, audience, material, push_types, definition)
      select 'plain', audience, material, push_types, definition from tacet.campaigns where name = 'coach'
      """)
    let groups = try await scene.database.sql(
      "select name, cap_group from tacet.campaigns where name in ('coach', 'plain')")
    #expect(groups == "coach|check_in\nplain|")
    for name in ["", "Check", "1st", "check-in", "check in", String(repeating: "a", count: 64)] {
      let error = await #expect(throws: (any Error).self, "\(name)") {
        try await scene.database.sql("update tacet.campaigns set cap_group = '\(name)'")
      }
      #expect(error.map { String(reflecting: $0) }?.contains("campaigns_cap_group_check") == true)
    }
  }

  @Test(
    "campaigns of different groups commit at once for a user, without waiting, also where the user has caps",
    arguments: [true, false])
  func apart(_ hasCaps: Bool) async throws {
    let scene = try await CampaignScene()
    try await scene.addCampaign("habit", ["cap_group": "'habit'"])
    try await scene.addCampaign("birthday", ["cap_group": "null"])
    try await scene.addUser()
    if hasCaps { try await scene.database.sql(Self.earlierCaps) }
    let turns = try await Self.turns(of: ["coach", "habit", "birthday"], in: scene)
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(Self.reason(turns[0]), on: reactor) == "sent")
      try await second.run("set lock_timeout = '2s'", on: reactor)
      for turn in turns.dropFirst() {
        #expect(try await second.value(Self.reason(turn), on: reactor) == "sent", "\(turn.campaign)")
      }
      try await first.run("commit", on: reactor)
    }
    #expect(try await scene.written() == "3|3|2|committed, committed, committed")
  }

  @Test("a decision without a group is committed once: the second waits for the first", arguments: [true, false])
  func fenced(_ isCommitted: Bool) async throws {
    let scene = try await CampaignScene()
    try await scene.addCampaign("birthday", ["cap_group": "null"])
    try await scene.addUser()
    let turn = try await Self.turns(of: ["birthday"], in: scene)[0]
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(Self.reason(turn), on: reactor) == "sent")
      let begun = Begun.begin(on: reactor) { try await second.value(Self.reason(turn), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      #expect(try await begun.value(on: reactor) == (isCommitted ? "claim_lost" : "sent"))
    }
    #expect(try await scene.written() == "1|1|0|committed")
  }

  /// A cap of another day for each user and group.
  static let earlierCaps = """
    insert into tacet.frequency_caps (user_id, cap_group, committed_day)
    select p.id, c.cap_group, '2026-01-01' from profiles p, tacet.campaigns c where c.cap_group is not null
    on conflict do nothing
    """

  private static func turns(of campaigns: [String], in scene: CampaignScene) async throws -> [CampaignTurn] {
    var turns: [CampaignTurn] = []
    for campaign in campaigns { turns.append(try #require(try await scene.claimed(campaign: campaign).first)) }
    return turns
  }

  /// Enrols the only user for a campaign and commits.
  private static func send(_ campaign: String, in scene: CampaignScene) async throws -> String {
    try await scene.database.sql(reason(try await turns(of: [campaign], in: scene)[0]))
  }

  private static func reason(_ turn: CampaignTurn) -> String {
    "select coalesce(c.reason, 'sent') from \(turn.commitment) c"
  }

  private static func refusal(of user: HostID, campaign: String, in scene: CampaignScene) async throws -> String {
    try await scene.database.sql(
      """
      select tacet.campaign_refusal('\(campaign)', '\(user)', clock_timestamp(),
        (clock_timestamp() at time zone tacet.campaign_zone('\(campaign)', '\(user)'))::date, null)
      """)
  }
}
