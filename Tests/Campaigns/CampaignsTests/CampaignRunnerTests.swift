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

  @Test("an old list of campaigns does not replace one that was read later, and answered before")
  func oldList() async throws {
    let scene = try await CoachScene()
    try await scene.sql(
      """
      create table answers (); create sequence looks;
      create function look() returns void language plpgsql as $$
      begin
        if nextval('public.looks') = 1 then
          while not exists (select from public.answers) loop perform pg_sleep(0.005); end loop;
        end if;
      end $$;
      alter table tacet.campaigns rename to stored_campaigns;
      create view tacet.campaigns as select s.* from (select public.look() offset 0) l, tacet.stored_campaigns s
      """)
    try await scene.withRunner { runner, _, reactor in
      let ended = Signal()
      reactor.start {
        try? await runner.updateCatalogue(after: .zero, on: reactor)
        ended.signal(on: reactor)
      }
      while try await scene.sql("select is_called from looks") != "t" {}
      try await scene.sql("update tacet.stored_campaigns set is_active = name = 'lapse'")
      try await runner.updateCatalogue(after: .zero, on: reactor)
      #expect(runner.catalogue.active == ["lapse"])
      try await scene.sql("insert into answers default values")
      _ = await ended.wait(on: reactor)
      #expect(runner.catalogue.active == ["lapse"])
    }
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
    try await scene.run()
    #expect(try await scene.decision(of: user) == "committed - re_engagement")
    let notes = try await scene.sql(
      "select jsonb_path_query_array(inputs, '$.notes[*].rule') from tacet.occasions")
    #expect(notes == #"["no_upcoming_event", "pattern_source_missing"]"#)
  }

  @Test("sends nothing when it cannot look at sessions")
  func closed() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.run { try await scene.sql("alter table conversations drop column owner_id") }
    #expect(try await scene.decision(of: user) == "skipped eligibility_unknown -")
  }

  @Test("a session that begins while the model writes keeps the push back")
  func sessionMeanwhile() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 4, ["We spoke about my garden."])
    let writer = ScriptedWriter()
    writer.onCall = { try await scene.addConversation(of: user, daysAgo: 0, ["Hi"]) }
    try await scene.run("coach", writer)
    #expect(try await scene.decision(of: user) == "skipped session_today re_engagement")
    #expect(try await scene.sql("select count(*) from tacet.pushes") == "0")
  }

  @Test(
    "a reply that breaks a rule, or none, is the campaign's policy",
    arguments: [
      (.failure(.timedOut), "model_timed_out"), (.success("Sure!"), "reply_not_json"),
      (.success(#"{"title":"Hi","body":"We spoke about my garden and roses, right?"}"#), "reply_quotes_user"),
      (.success(#"{"title":"Hi","body":"Look at http://evil.example now?"}"#), "reply_has_link"),
    ] as [(Result<String, LanguageModelError.Code>, String)])
  func failures(reply: Result<String, LanguageModelError.Code>, reason: String) async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 4, ["We spoke about my garden and roses."])
    try await scene.run("coach", ScriptedWriter(reply))
    #expect(try await scene.decision(of: user) == "skipped \(reason) re_engagement")
    // The same with a campaign that has templates.
    let other = try await scene.addUser()
    try await scene.addConversation(of: other, daysAgo: 4, ["We spoke about my garden and roses."])
    try await scene.sql(
      """
      update tacet.campaigns set definition = '{"layers": ["re_engagement"], "composer": {"on_failure": "template"},
        "texts": [{"title": "A moment for you", "body": "Shall we talk about {domain}?"}]}'
      """)
    try await scene.run("coach", ScriptedWriter(reply), onlyUser: other)
    #expect(try await scene.decision(of: other) == "committed - re_engagement")
    #expect(try await scene.sql("select title, body from tacet.pushes") == "A moment for you|Shall we talk about work?")
    let writing = try await scene.sql(
      "select inputs -> 'writing' from tacet.occasions where status = 'sent'")
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
    try await scene.run("coach", writer, limits: limits)
    #expect(writer.prompts.count == 3)
    let outcomes = try await scene.sql(
      "select status, reason, count(*) from tacet.occasions group by 1, 2 order by 1")
    #expect(outcomes == "sent||3\nskipped|model_budget_spent|3")
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
        '{"layers": ["occasion"], "occasion": "evening reflection",
          "texts": [{"title": "Your {theme}", "body": "What was good today?"}]}')
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
    let west = try await scene.westernZone()
    let users = (try await scene.addUser(), try await scene.addUser(zone: west))
    try await scene.sql(
      """
      create function refuse() returns trigger language plpgsql as $$ begin raise 'a row of a user'; end $$;
      create trigger refuse before insert on tacet.campaign_runs for each row
        when (new.time_zone = '\(scene.zone)') execute function refuse()
      """)
    let lines = LogLines()
    try await scene.withRunner(pace: try await scene.paceOfNow(), logger: lines.logger) { runner, _, reactor in
      await runner.look(on: reactor)
      #expect(try await scene.decision(of: users.0) == "")
      #expect(try await scene.decision(of: users.1) == "skipped nothing_to_say -")
      #expect(lines.texts.contains("warning: a campaign's hour cannot be served"))
      try await scene.sql("drop trigger refuse on tacet.campaign_runs")
      await runner.look(on: reactor)
      #expect(try await scene.decision(of: users.0) == "skipped nothing_to_say -")
    }
  }
}

@Suite("A campaign whose audience fails")
struct FailingAudienceTests {
  private func pace(in scene: CoachScene) async throws -> CampaignPace {
    var pace = try await scene.paceOfNow()
    pace.zonesAge = .zero
    return pace
  }

  @Test("keeps no other campaign from running, is tried again at ever fewer looks, and is told with its function")
  func others() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.sql(
      """
      create sequence tries;
      create function broken(moment timestamptz, only_user uuid) returns table (user_id uuid, time_zone text, gap_days int)
      language plpgsql stable as $$ begin perform nextval('public.tries'); perform 1 / 0; end $$;
      insert into tacet.campaigns (name, audience, material, push_types, definition)
      select 'broken', 'public.broken', material, push_types, definition from tacet.campaigns where name = 'coach'
      """)
    let lines = LogLines()
    try await scene.withRunner(pace: try await pace(in: scene), logger: lines.logger) { runner, _, reactor in
      await runner.look(on: reactor)
      let decision = try await scene.decision(of: user)
      #expect(decision == "skipped nothing_to_say -")
      for _ in 2...10 { await runner.look(on: reactor) }
      let tries = try await scene.sql("select last_value from tries")
      #expect(tries == "4")
    }
    let line = try #require(lines.all.first { $0.message == "a campaign's audience cannot be read" })
    #expect(line.metadata["campaign"] == "broken")
    #expect(line.metadata["function"]?.contains("broken") == true)
    #expect(line.metadata["error"]?.contains("22012") == true)
  }

  @Test("for one user's row is served in the zones where others live, as far as they are known")
  func zones() async throws {
    let scene = try await CoachScene()
    let west = try await scene.westernZone()
    let (ada, bob) = (try await scene.addUser(), try await scene.addUser(zone: west))
    try await scene.sql(
      """
      create function gap(wishes jsonb) returns int language plpgsql stable as 'begin return (wishes ->> ''gap'')::int; end';
      create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, refusal text) language sql stable as $$
        select p.user_id, p.time_zone, 1, null from public.context_profiles p
        where (only_user is null or p.user_id = only_user) and public.gap(p.notification_preferences) > 0
      $$;
      update context_profiles set notification_preferences = notification_preferences || '{"gap": "1"}';
      update tacet.campaigns set weekdays = '{}'
      """)
    let lines = LogLines()
    try await scene.withRunner(pace: try await pace(in: scene), logger: lines.logger) { runner, _, reactor in
      await runner.look(on: reactor)
      #expect(!lines.texts.contains { $0.hasPrefix("warning") })
      try await scene.sql(
        """
        update tacet.campaigns set weekdays = default;
        update context_profiles set notification_preferences = '{"gap": "soon"}' where user_id = '\(bob)'
        """)
      await runner.look(on: reactor)
    }
    let decisions = [try await scene.decision(of: ada), try await scene.decision(of: bob)]
    #expect(decisions == ["skipped nothing_to_say -", ""])
    #expect(lines.texts.contains("warning: a campaign's audience cannot be read"))
  }
}

@Suite("Parts of campaigns that fail")
struct CampaignRetriesTests {
  /// The looks, from 1 on, at which a part is tried that fails each time.
  private static func tries(looks: Int, of retries: inout CampaignRetries, _ part: CampaignRetries.Part) -> [Int] {
    (1...looks).filter { _ in
      retries.beginLook()
      if retries.leavesOut(part) { return false }
      retries.failed(part)
      return true
    }
  }

  @Test("are left out for longer and longer, up to ten minutes of looks, and no other part with them")
  func steps() {
    var retries = CampaignRetries()
    let tries = Self.tries(looks: 128, of: &retries, .audience("coach"))
    #expect(tries == [1, 2, 4, 8, 16, 32, 64, 96, 128])
    #expect(!retries.leavesOut(.audience("evening")))
    #expect(!retries.leavesOut(.hour("coach", "UTC")))
  }

  @Test("are tried at the next look again after one that went well, and when nobody asked for ten minutes")
  func recovery() {
    var retries = CampaignRetries()
    let part = CampaignRetries.Part.hour("coach", "UTC")
    _ = Self.tries(looks: 16, of: &retries, part)
    retries.succeeded(part)
    #expect(Self.tries(looks: 4, of: &retries, part) == [1, 2, 4])
    for _ in 0..<100 { retries.beginLook() }
    #expect(Self.tries(looks: 4, of: &retries, part) == [1, 2, 4])
  }
}

@Suite("Campaigns of a service that lets its database sleep")
struct CampaignSleepTests {
  @Test("an hour that comes ends the sleep, and its users are looked at")
  func hour() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 4, ["I said yes too fast again."])
    try await scene.sql(
      "update tacet.campaigns set local_time = ((now() at time zone '\(scene.zone)') + interval '6 seconds')::time")
    let sleep = DatabaseSleep(after: .milliseconds(100))
    var pace = CampaignPace()
    pace.hourInterval = .milliseconds(100)
    try await scene.withRunner(pace: pace, sleep: sleep) { runner, _, reactor in
      reactor.start { await runner.run(on: reactor) }
      while !runner.pauses[.hours]!.isAsleep {
        _ = sleep.begin(now: Reactor.now)
        await reactor.sleep(for: .milliseconds(5))
      }
      for _ in 0..<3000 where sleep.isAsleep { await reactor.sleep(for: .milliseconds(10)) }
      #expect(!sleep.isAsleep)
      var decision = ""
      for _ in 0..<200 where !decision.hasPrefix("committed") {
        await reactor.sleep(for: .milliseconds(50))
        decision = try await scene.decision(of: user)
      }
      #expect(decision.hasPrefix("committed"), "\(decision)")
      runner.stop(on: reactor)
      #expect(await runner.drain(within: .seconds(20), on: reactor))
    }
  }

  @Test("the next hour is that of the first zone in which one comes, on the campaign's days")
  func next() async throws {
    let scene = try await CoachScene()
    try await scene.sql(
      "update tacet.campaigns set local_time = ((now() at time zone 'UTC') + interval '1 hour')::time")
    let day = Duration.seconds(86_400)
    for (zones, weekdays, least, most) in [
      (["UTC"], "{1,2,3,4,5,6,7}", Duration.seconds(3500), Duration.seconds(3601)),
      // An hour behind: the hour comes there an hour later. Unknown zones are UTC.
      (["Etc/GMT+1"], "{1,2,3,4,5,6,7}", .seconds(7100), .seconds(7201)),
      (["Etc/GMT+1", "Mars/Olympus_Mons"], "{1,2,3,4,5,6,7}", .seconds(3500), .seconds(3601)),
      (["UTC"], "{3}", .zero, day * 7 + .seconds(3601)),
    ] {
      try await scene.sql("update tacet.campaigns set weekdays = '\(weekdays)'")
      try await scene.withRunner { _, store, reactor in
        let wait = try await store.timeUntilNextHour(minutes: 600, zones: ["coach": zones], on: reactor)
        let found = try #require(wait)
        #expect(found > least && found < most, "\(zones) \(weekdays)")
      }
    }
    try await scene.sql("update tacet.campaigns set is_scheduled = false")
    try await scene.withRunner { _, store, reactor in
      for zones in [["coach": ["UTC"]], [:]] {
        let wait = try await store.timeUntilNextHour(minutes: 600, zones: zones, on: reactor)
        #expect(wait == nil)
      }
    }
  }
}
