import Foundation
import Postgres
import PushRules
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

@Suite("Committing to a campaign's push")
struct CampaignCommitTests {
  /// What happens between a claim and its commit, and the reason it is refused for then.
  private static let obstacles = [
    ("update context_profiles set notification_preferences = '{\"check_ins_enabled\": false}'", "not_in_audience"),
    ("update push_tokens set invalidated_at = now()", "not_in_audience"),
    ("delete from push_tokens; \(audienceWithoutTokens)", "no_tokens"),
    ("insert into tacet.preferences (user_id, disabled_kinds) select id, '{event_based}' from profiles", "opted_out"),
    (mutes, "muted"),
    (
      """
      insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_zone, quiet_policy)
      select id, '00:00', '23:59', '\(ZoneNearNoon.name)', 'hold' from profiles
      """, "quiet_hours"
    ),
    ("insert into conversations (owner_id) select id from profiles", "session_today"),
    (
      """
      insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at)
      select gen_random_uuid(), id, 'pattern_based', 'sent', now() from profiles
      """, "recently_pushed"
    ),
    (
      "insert into tacet.frequency_caps (user_id, cap_group, committed_day) select user_id, 'check_in', fire_date from tacet.occasions",
      "pushed_today"
    ),
    ("update tacet.campaigns set is_active = false", "campaign_inactive"),
    ("update tacet.occasions set fire_at = fire_at - interval '1 day'", "day_over"),
    ("drop function tacet.sessions_between(uuid, timestamptz, timestamptz)", "eligibility_unknown"),
    ("drop function tacet.check_in_audience(timestamptz, uuid)", "eligibility_unknown"),
    ("drop function tacet.device_tokens(uuid)", "eligibility_unknown"),
  ]

  private static let audienceWithoutTokens = """
    create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
    returns table (user_id uuid, time_zone text, gap_days int, refusal text) language sql stable as $$
      select p.user_id, p.time_zone, 1, null from public.context_profiles p where p.user_id = only_user
    $$
    """

  private static let mutes = """
    create or replace function tacet.recipient_preferences(user_id uuid, kind text, surface_id uuid, moment timestamptz)
    returns table (
      is_opted_out boolean, is_muted boolean, mentions_only boolean, quiet_hours_remaining interval, quiet_hours_policy text
    ) language sql stable as $$ select false, true, false, null::interval, null::text $$
    """

  @Test("writes push, event, cap and decision", .uuidsOnly)
  func everything() async throws {
    let (scene, turn) = try await Self.claimed()
    let commit = try await scene.commit(turn)
    guard case .committed(let id) = commit else {
      Issue.record("\(commit)")
      return
    }
    #expect(try await scene.written() == "1|1|1|committed")
    let row = try await scene.database.sql(
      """
      select p.id = '\(id)', p.id = i.subject_id, p.user_id = i.conversation_id, p.created_at = i.enqueued_at, p.kind, i.kind,
        p.title, p.body, p.data, p.metadata - 'due_at', (p.metadata ->> 'due_at')::numeric = extract(epoch from d.fire_at),
        p.quiet_policy, f.committed_day = d.fire_date, d.push_id = p.id, d.layer, d.inputs
      from tacet.pushes p, tacet.inbox i, tacet.frequency_caps f, tacet.occasions d
      """)
    #expect(
      row == """
        t|t|t|t|event_based|event_based|Tomorrow|How do you feel?|{"domain": "work"}|{"layer": "event", "campaign": "coach"}|t\
        |drop|t|t|event|{"messages": 3}
        """)
  }

  @Test("is refused for what has happened since the claim, and nothing is queued", arguments: obstacles)
  func refused(_ sql: String, _ reason: String) async throws {
    let (scene, turn) = try await Self.claimed()
    try await scene.database.sql(sql)
    let capped = reason == "pushed_today" ? 1 : 0
    #expect(try await scene.commit(turn) == .refused(reason))
    #expect(try await scene.written() == "0|0|\(capped)|skipped \(reason)")
  }

  @Test("is refused when the day has ended for which it was looked")
  func anotherDay() async throws {
    let (scene, turn) = try await Self.claimed()
    try await scene.database.sql("update tacet.occasions set fire_date = fire_date - 1")
    let yesterday = Occasion(
      campaign: turn.campaign, userID: turn.userID,
      fireDate: try await scene.database.sql("select fire_date from tacet.occasions"), fireAt: turn.fireAt,
      timeZone: turn.timeZone, attempts: turn.attempts)
    #expect(try await scene.commit(yesterday) == .refused("day_over"))
  }

  @Test("belongs to the newest claim, until something is decided")
  func fence() async throws {
    let (scene, turn) = try await Self.claimed()
    try await scene.database.sql("update tacet.occasions set available_at = now()")
    let newest = try #require(try await scene.claimed().first)
    #expect(newest.attempts == turn.attempts + 1)
    #expect(try await scene.commit(turn) == .refused("claim_lost"))
    #expect(try await scene.written() == "0|0|0|undecided")
    guard case .committed = try await scene.commit(newest) else {
      Issue.record("the newest claim was refused")
      return
    }
    #expect(try await scene.commit(newest) == .refused("claim_lost"))
    let isOurs = try await withStore(scene.database) {
      try await $0.decide(newest, reason: "late", on: $1)
    }
    #expect(!isOurs)
    #expect(try await scene.written() == "1|1|1|committed")
  }

  @Test(
    "writes everything or nothing",
    arguments: [
      "alter table tacet.pushes add check (kind <> 'event_based')",
      "alter table tacet.inbox add check (kind <> 'event_based')",
      "alter table tacet.frequency_caps add check (committed_day is null)",
      "alter table tacet.occasions add check (push_id is null)",
    ])
  func allOrNothing(_ obstacle: String) async throws {
    let (scene, turn) = try await Self.claimed()
    try await scene.database.sql(obstacle)
    await #expect(throws: PostgresError.self) { try await scene.commit(turn) }
    #expect(try await scene.written() == "0|0|0|undecided")
  }

  @Test("data that is no JSON fails and writes nothing")
  func malformed() async throws {
    let (scene, turn) = try await Self.claimed()
    let push = WrittenPush(data: "{")
    await #expect(throws: PostgresError.self) { try await scene.commit(turn, push) }
    #expect(try await scene.written() == "0|0|0|undecided")
  }

  @Test(
    "of two campaigns of a group at once one is sent: the second waits for the first, and sends when that gives up",
    arguments: [true, false], [true, false])
  func twoCampaigns(_ isCommitted: Bool, _ hasCap: Bool) async throws {
    let scene = try await CampaignScene()
    try await scene.addCampaign("another")
    try await scene.addUser()
    if hasCap { try await scene.database.sql(CapGroupTests.earlierCaps) }
    let turns = try await scene.claimed() + scene.claimed(campaign: "another")
    try #require(turns.map(\.campaign) == ["coach", "another"])
    let reasons = turns.map { "select coalesce(c.reason, 'sent') from \($0.commitment) c" }
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(reasons[0], on: reactor) == "sent")
      let begun = Begun.begin(on: reactor) { try await second.value(reasons[1], on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      #expect(try await begun.value(on: reactor) == (isCommitted ? "pushed_today" : "sent"))
    }
    let decided = isCommitted ? "skipped pushed_today, committed" : "committed, undecided"
    #expect(try await scene.written() == "1|1|1|\(decided)")
  }

  @Test("a session that is not committed yet is not known; one that is, while the commit waits, is")
  func sessionMeanwhile() async throws {
    let (scene, turn) = try await Self.claimed()
    try await withTwoSessions(scene.database) { other, service, reactor in
      try await other.run(
        """
        begin; insert into tacet.frequency_caps (user_id, cap_group) values ('\(turn.userID)', 'check_in');
        insert into public.conversations (owner_id) values ('\(turn.userID)')
        """, on: reactor)
      let begun = Begun.begin(on: reactor) {
        try await service.value("select c.reason from \(turn.commitment) c", on: reactor)
      }
      try await other.awaitBlocked(service, on: reactor)
      try await other.run("commit", on: reactor)
      #expect(try await begun.value(on: reactor) == "session_today")
    }
  }

  @Test("what the ledger will keep of a push has 4096 bytes at the most", arguments: [(4087, "1"), (4088, "0")])
  func metadata(_ length: Int, _ taken: String) async throws {
    let (scene, _) = try await Self.claimed()
    let found = try await scene.database.sql(
      """
      do $$ begin
        insert into tacet.pushes (user_id, kind, title, body, metadata)
        select id, 'news', '', '', jsonb_build_object('x', repeat('y', \(length))) from profiles;
      exception when check_violation then null;
      end $$;
      select count(*) from tacet.pushes
      """)
    #expect(found == taken)
  }

  private static func claimed() async throws -> (CampaignScene, Occasion) {
    let scene = try await CampaignScene()
    try await scene.addUser()
    return (scene, try #require(try await scene.claimed().first))
  }
}

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
      "select cap_group, committed_day is not null from tacet.frequency_caps order by 1")
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

  private static func turns(of campaigns: [String], in scene: CampaignScene) async throws -> [Occasion] {
    var turns: [Occasion] = []
    for campaign in campaigns { turns.append(try #require(try await scene.claimed(campaign: campaign).first)) }
    return turns
  }

  /// Enrols the only user for a campaign and commits.
  private static func send(_ campaign: String, in scene: CampaignScene) async throws -> String {
    try await scene.database.sql(reason(try await turns(of: [campaign], in: scene)[0]))
  }

  private static func reason(_ turn: Occasion) -> String {
    "select coalesce(c.reason, 'sent') from \(turn.commitment) c"
  }

  private static func refusal(of user: HostID, campaign: String, in scene: CampaignScene) async throws -> String {
    try await scene.database.sql("select \(CampaignScene.refusal(of: "'{\(user)}'", in: campaign))")
  }
}
