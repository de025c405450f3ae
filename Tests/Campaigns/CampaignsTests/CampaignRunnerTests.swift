import Foundation
import PushStore
import Reactors
import TestLogs
import Testing

@testable import Campaigns

@Suite("A campaign's run")
struct CampaignRunnerTests {
  private static let presentation = "I have a big presentation tomorrow and I am nervous."

  @Test("says something about what is coming up, and queues it once")
  func event() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 1, ["Hello.", "My presentation is the day after tomorrow."])
    let writer = ScriptedWriter()
    try await scene.withRunner(writer) { runner, store, reactor in
      let run = try #require(try await store.enrol("coach", onlyUser: nil, on: reactor))
      #expect(run.enrolled == 1)
      await runner.look(on: reactor)
      await runner.look(on: reactor)
      let status = try #require(try await store.campaignRun(run.runID, on: reactor))
      #expect((status.undecided, status.committed, status.inputTokens) == (0, 1, 100))
      #expect(try #require(try await store.enrol("coach", onlyUser: nil, on: reactor)).enrolled == 0)
    }
    #expect(try await scene.decision(of: user) == "committed - event")
    #expect(writer.prompts.count == 1)
    #expect(try #require(writer.prompts.first).material.contains("event: presentation"))
    let queued = try await scene.sql(
      """
      select p.kind, p.title, p.body, p.data ->> 'action', p.data ->> 'push_type', p.data ->> 'domain',
        p.metadata ->> 'layer', p.metadata ->> 'campaign', p.metadata ->> 'event', p.quiet_policy
      from tacet.pushes p join tacet.inbox i on i.subject_id = p.id
      """)
    #expect(
      queued
        == "event_based|Thinking of you|How is it going?|new_conversation|event_based|work|event|coach|presentation|drop"
    )
  }

  @Test("leaves those alone whose campaign was switched off after they were noted")
  func inactive() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 1, ["My presentation is the day after tomorrow."])
    let writer = ScriptedWriter()
    try await scene.withRunner(writer) { runner, store, reactor in
      #expect(try #require(try await store.enrol("coach", onlyUser: nil, on: reactor)).enrolled == 1)
      try await scene.sql("update tacet.campaigns set is_active = false")
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: user) == "skipped campaign_inactive -")
    #expect(writer.prompts.isEmpty)
  }

  @Test(
    "takes the first layer that has something to say",
    arguments: [
      (0.5, "Just a normal day.", false, "skipped session_today -"),
      (1.5, "Just a normal day.", true, "skipped nothing_to_say -"),
      (2.5, "Just a normal day.", true, "committed - pattern"),
      (2.5, "Just a normal day.", false, "skipped nothing_to_say -"),
      (3.5, "Just a normal day.", false, "committed - re_engagement"),
    ] as [(Double, String, Bool, String)])
  func layers(daysAgo: Double, text: String, hasPattern: Bool, expected: String) async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    // Half a day ago is today as well: it is noon.
    try await scene.addConversation(of: user, daysAgo: daysAgo == 0.5 ? 0.1 : daysAgo, [text])
    if hasPattern {
      try await scene.sql(
        """
        insert into pattern_cache (user_id, theme, occurrences, domains, confidence, synthesis)
        values ('\(user)', 'fear of speaking', 4, '{work}', 0.9, 'Speaking up comes back again and again.')
        """)
    }
    try await scene.withRunner { runner, store, reactor in
      let run = try #require(try await store.enrol("coach", onlyUser: nil, on: reactor))
      #expect(run.enrolled == (expected.contains("session_today") ? 0 : 1))
      await runner.look(on: reactor)
    }
    let decision = try await scene.decision(of: user)
    #expect(decision == (expected.contains("session_today") ? "" : expected))
  }

  @Test("does without a table that the host does not have, layer by layer")
  func missingTables() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 4, ["We spoke about my garden."])
    try await scene.sql("drop table pattern_cache")
    try await scene.withRunner { runner, store, reactor in
      _ = try await store.enrol("coach", onlyUser: nil, on: reactor)
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: user) == "committed - re_engagement")
    let notes = try await scene.sql(
      "select jsonb_path_query_array(inputs, '$.notes[*].rule') from tacet.campaign_decisions")
    #expect(notes == #"["no_upcoming_event", "pattern_source_missing"]"#)
  }

  @Test("sends nothing when it cannot look at sessions")
  func closed() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.withRunner { runner, store, reactor in
      _ = try await store.enrol("coach", onlyUser: nil, on: reactor)
      try await scene.sql("alter table conversations drop column owner_id")
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: user) == "skipped eligibility_unknown -")
  }

  @Test("a session that begins while the model writes keeps the push back")
  func sessionMeanwhile() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 4, ["We spoke about my garden."])
    let writer = ScriptedWriter()
    writer.onCall = { try await scene.addConversation(of: user, daysAgo: 0, ["Hi"]) }
    try await scene.withRunner(writer) { runner, store, reactor in
      _ = try await store.enrol("coach", onlyUser: nil, on: reactor)
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: user) == "skipped session_today re_engagement")
    #expect(try await scene.sql("select count(*) from tacet.pushes") == "0")
  }

  @Test(
    "a reply that breaks a rule, or none, is the campaign's policy",
    arguments: [
      (.failure(WritingFailure("model_timed_out")), "model_timed_out"), (.success("Sure!"), "reply_not_json"),
      (.success(#"{"title":"Hi","body":"We spoke about my garden and roses, right?"}"#), "reply_quotes_user"),
      (.success(#"{"title":"Hi","body":"Look at http://evil.example now?"}"#), "reply_has_link"),
    ] as [(Result<String, WritingFailure>, String)])
  func failures(reply: Result<String, WritingFailure>, reason: String) async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 4, ["We spoke about my garden and roses."])
    try await scene.withRunner(ScriptedWriter(reply)) { runner, store, reactor in
      _ = try await store.enrol("coach", onlyUser: nil, on: reactor)
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: user) == "skipped \(reason) re_engagement")
    // The same with a campaign that has templates.
    let other = try await scene.addUser()
    try await scene.addConversation(of: other, daysAgo: 4, ["We spoke about my garden and roses."])
    try await scene.sql(
      """
      update tacet.campaigns set definition = '{"layers": ["re_engagement"], "composer": {"kind": "model", "on_failure": "template"},
        "templates": {"re_engagement": [{"title": "A moment for you", "body": "Shall we talk about {domain}?"}]}}'
      """)
    try await scene.withRunner(ScriptedWriter(reply)) { runner, store, reactor in
      _ = try await store.enrol("coach", onlyUser: other, on: reactor)
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: other) == "committed - re_engagement")
    #expect(try await scene.sql("select title, body from tacet.pushes") == "A moment for you|Shall we talk about work?")
    let writing = try await scene.sql(
      "select inputs -> 'writing' from tacet.campaign_decisions where decision = 'committed'")
    #expect(writing == #"{"by": "template", "failure": "\#(reason)"}"#)
  }

  @Test("the day's bounds on tokens and money hold, whoever asks")
  func bounds() async throws {
    let scene = try await CoachScene()
    for _ in 0..<6 {
      try await scene.addConversation(of: try await scene.addUser(), daysAgo: 4, ["We spoke about my garden."])
    }
    let writer = ScriptedWriter()
    // Each call uses 120 tokens.
    let limits = ModelUsageLimits(tokensMax: 360, costMicrodollarsMax: 1_000_000)
    try await scene.withRunner(writer, limits: limits) { runner, store, reactor in
      _ = try await store.enrol("coach", onlyUser: nil, on: reactor)
      await runner.look(on: reactor)
    }
    #expect(writer.prompts.count == 3)
    let outcomes = try await scene.sql(
      "select decision, reason, count(*) from tacet.campaign_decisions group by 1, 2 order by 1")
    #expect(outcomes == "committed||3\nskipped|model_budget_spent|3")
    let usage = try await scene.sql(
      "select calls, input_tokens, output_tokens, reserved_tokens, cost_microdollars from tacet.model_usage")
    #expect(usage == "3|300|60|0|600")
  }

  @Test("another campaign with an occasion needs nothing but data")
  func occasion() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.sql(
      """
      insert into tacet.campaigns (name, audience, material, push_types, cap_group, needs_no_session, definition)
      values ('evening', 'tacet.check_in_audience', 'tacet.check_in_material', '{occasion}', 'check_in', false,
        '{"layers": ["occasion"], "occasion": "evening reflection", "composer": {"kind": "template"},
          "templates": {"occasion": [{"title": "Your {theme}", "body": "What was good today?"}]}}')
      """)
    try await scene.withRunner(nil) { runner, store, reactor in
      _ = try await store.enrol("evening", onlyUser: nil, on: reactor)
      await runner.look(on: reactor)
      // The cap is that of the group.
      #expect(try await store.enrol("coach", onlyUser: nil, on: reactor)?.enrolled == 0)
    }
    #expect(try await scene.decision(of: user, campaign: "evening") == "committed - occasion")
    #expect(try await scene.sql("select kind, title from tacet.pushes") == "occasion|Your evening reflection")
  }

  @Test("an hour that cannot be served keeps no other from being served, and is served later")
  func slots() async throws {
    let scene = try await CoachScene()
    let west = try await scene.sql(
      """
      select name from pg_timezone_names z where name ~ '^Etc/GMT[+-]'
        and utc_offset = now() at time zone '\(scene.zone)' - now() at time zone 'UTC' - interval '1 hour' limit 1
      """)
    let users = (try await scene.addUser(), try await scene.addUser(zone: west))
    try await scene.sql(
      """
      create function refuse() returns trigger language plpgsql as $$ begin raise 'a row of a user'; end $$;
      create trigger refuse before insert on tacet.campaign_slots for each row
        when (new.time_zone = '\(scene.zone)') execute function refuse()
      """)
    let minutes = try await scene.sql(
      "select (extract(epoch from (now() at time zone '\(scene.zone)')::time) / 60)::int - 70")
    var pace = CampaignPace()
    pace.standardMinutes = try #require(Int(minutes))
    let lines = LogLines()
    try await scene.withRunner(pace: pace, logger: lines.logger) { runner, _, reactor in
      await runner.look(on: reactor)
      #expect(try await scene.decision(of: users.0) == "")
      #expect(try await scene.decision(of: users.1) == "skipped nothing_to_say -")
      #expect(lines.texts.contains("warning: a campaign's hour cannot be served"))
      try await scene.sql("drop trigger refuse on tacet.campaign_slots")
      await runner.look(on: reactor)
      #expect(try await scene.decision(of: users.0) == "skipped nothing_to_say -")
    }
  }
}
