import Foundation
import PushRules
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

  @Test("enrols those whom a request has left, page by page")
  func requestPages() async throws {
    let scene = try await CoachScene()
    for _ in 0..<5 { _ = try await scene.addUser() }
    try await scene.withRunner { runner, store, reactor in
      let run = try #require(try await store.enrol("coach", onlyUser: nil, usersMax: 2, on: reactor))
      #expect(run.enrolled == 2)
      await runner.look(on: reactor)
      let status = try #require(try await store.campaignRun(run.runID, on: reactor))
      #expect(status.isFinished && status.enrolled == 5 && status.skipped == 5)
    }
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
    ] as [(Result<String, LanguageModelError>, String)])
  func failures(reply: Result<String, LanguageModelError>, reason: String) async throws {
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

  @Test("an event that the model refuses is recorded with its word; no template is sent instead, and it is asked once")
  func refusedEvent() async throws {
    let scene = try await CoachScene()
    let user = try await scene.addUser()
    try await scene.addConversation(of: user, daysAgo: 1, [Self.presentation])
    try await scene.sql(
      """
      update tacet.campaigns set definition = '{"layers": ["event", "re_engagement"], "composer": {"on_failure": "template"},
        "texts": [{"title": "Your {event}", "body": "It is {when}."}]}'
      """)
    let writer = ScriptedWriter(.success(#"{"skip": "not_theirs"}"#))
    for _ in 1...2 {
      try await scene.run("coach", writer)
      #expect(try await scene.decision(of: user) == "skipped model_declined event")
      #expect(
        try await scene.sql("select inputs -> 'writing' from tacet.occasions")
          == #"{"by": "model", "failure": "model_declined", "refusal": "not_theirs"}"#)
      try await scene.sql("delete from tacet.occasions")
    }
    #expect(writer.prompts.count == 1)
    // A provider's own refusal says nothing of the event, so the template is sent.
    try await scene.sql("delete from tacet.model_texts")
    try await scene.run("coach", ScriptedWriter(.failure(.declined)))
    #expect(try await scene.decision(of: user) == "committed - event")
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

  /// Users who have something to hear, and a campaign that says it to them by a template.
  private static func addTalk(_ scene: CoachScene, users: Int, onFailure: String? = nil) async throws -> [HostID] {
    let composer = onFailure.map { #""composer": {"on_failure": "\#($0)"},"# } ?? ""
    try await scene.sql(
      """
      insert into tacet.campaigns (name, audience, material, push_types, needs_no_session, definition)
      values ('talk', 'tacet.check_in_audience', 'public.facts', '{occasion}', false,
        '{"layers": ["occasion"], "occasion": "evening talk", \(composer) "texts": [{"title": "A", "body": "{fact}"}]}');
      create function public.facts(user_id uuid, moment timestamptz) returns jsonb language plpgsql stable as
        'begin return jsonb_build_object(''fact'', ''B''); end'
      """)
    var added: [HostID] = []
    for _ in 0..<users { added.append(try await scene.addUser()) }
    return added
  }

  @Test("asks about the users of an hour together, and queues their pushes together")
  func together() async throws {
    let scene = try await CoachScene()
    _ = try await Self.addTalk(scene, users: 5)
    try await scene.run("talk")
    #expect(try await scene.sql("select body, count(*) from tacet.pushes where campaign = 'talk' group by 1") == "B|5")
    // The same transaction.
    #expect(
      try await scene.sql("select count(distinct xmin::text) from tacet.occasions where campaign = 'talk'") == "1")
  }

  @Test(
    "a user for whom something fails does not keep others back",
    arguments: [
      ("return jsonb_build_object(''fact'', 1 / (user_id <> ''USER'')::int)", nil, "failed material_failed -"),
      (
        "return case when user_id = ''USER'' then ''[]'' else ''{\"fact\": 1}'' end::jsonb", nil,
        "failed material_unreadable -"
      ),
      ("return jsonb_build_object(''fact'', nullif(''USER'', user_id::text))", nil, "skipped no_template occasion"),
      // What is counted with the push.
      (nil, "perform 1 / (user_id <> ''USER'')::int", "failed on_push_failed occasion"),
    ] as [(String?, String?, String)])
  func apart(material: String?, onPush: String?, expected: String) async throws {
    let scene = try await CoachScene()
    let users = try await Self.addTalk(scene, users: 3)
    func body(_ text: String) -> String { text.replacingOccurrences(of: "USER", with: "\(users[1])") }
    if let material {
      try await scene.sql(
        """
        create or replace function public.facts(user_id uuid, moment timestamptz) returns jsonb language plpgsql stable as
          'begin \(body(material)); end'
        """)
    }
    if let onPush {
      try await scene.sql(
        """
        create function public.count_push(user_id uuid, moment timestamptz) returns void language plpgsql as
          'begin \(body(onPush)); end';
        update tacet.campaigns set on_push = 'public.count_push' where name = 'talk'
        """)
    }
    try await scene.run("talk")
    for user in users {
      #expect(
        try await scene.decision(of: user, campaign: "talk") == (user == users[1] ? expected : "committed - occasion"))
    }
  }

  @Test("users for whom a model writes wait for their turn, and keep no others waiting")
  func turns() async throws {
    let scene = try await CoachScene()
    let users = try await Self.addTalk(scene, users: 12, onFailure: "skip")
    let writer = ScriptedWriter()
    // The first calls end when the others have been pushed.
    writer.onCall = {
      let pushes = "select count(*) from tacet.pushes where campaign = 'plain'"
      let deadline = ContinuousClock.now + .seconds(60)
      while try await scene.sql(pushes) != "12", ContinuousClock.now < deadline {}
    }
    try await scene.sql(
      """
      insert into tacet.campaigns (name, audience, material, push_types, needs_no_session, definition)
      select 'plain', audience, material, push_types, needs_no_session, definition - 'composer' from tacet.campaigns
      where name = 'talk'
      """)
    try await scene.withRunner(writer) { runner, store, reactor in
      for name in ["talk", "plain"] { _ = try await store.enrol(name, onlyUser: nil, on: reactor) }
      await runner.look(on: reactor)
    }
    #expect(writer.prompts.count == users.count)
    #expect(
      try await scene.sql(
        "select campaign, status, count(*) from tacet.occasions where campaign <> 'coach' group by 1, 2 order by 1")
        == "plain|sent|12\ntalk|sent|12")
    #expect(
      try await scene.sql(
        """
        select max(changed_at) filter (where campaign = 'plain') < min(changed_at) filter (where campaign = 'talk')
        from tacet.occasions
        """) == "t")
    // None was claimed for nothing.
    #expect(try await scene.sql("select max(attempts) from tacet.occasions") == "1")
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
        when (new.due_at <= now() - interval '1 hour') execute function refuse()
      """)
    let lines = LogLines()
    var pace = try await scene.paceOfNow()
    pace.failedHourPause = .zero
    try await scene.withRunner(pace: pace, logger: lines.logger) { runner, _, reactor in
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
  @Test("keeps no other campaign from running, is tried again after a pause, and is told with its function")
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
    let pace = try await scene.paceOfNow()
    try await scene.withRunner(pace: pace, logger: lines.logger) { runner, _, reactor in
      await runner.look(on: reactor)
      let decision = try await scene.decision(of: user)
      #expect(decision == "skipped nothing_to_say -")
      let tries = try await scene.sql("select last_value from tries")
      await runner.look(on: reactor)
      #expect(try await scene.sql("select last_value from tries") == tries)
      for hour in runner.failedHours.keys {
        runner.failedHours[hour] = Reactor.now - pace.failedHourPause.clampedNanoseconds
      }
      await runner.look(on: reactor)
      #expect(try await scene.sql("select last_value from tries") != tries)
    }
    let line = try #require(lines.all.first { $0.message == "a campaign's hour cannot be served" })
    #expect(line.metadata["campaign"] == "broken")
    #expect(line.metadata["function"]?.contains("broken") == true)
    #expect(line.metadata["error"]?.contains("22012") == true)
  }

  @Test("for one user's row is served in the zones where others live")
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
      update context_profiles set notification_preferences = case
        when user_id = '\(bob)' then '{"gap": "soon"}' else notification_preferences || '{"gap": "1"}' end
      """)
    let lines = LogLines()
    try await scene.withRunner(pace: try await scene.paceOfNow(), logger: lines.logger) { runner, _, reactor in
      await runner.look(on: reactor)
    }
    let decisions = [try await scene.decision(of: ada), try await scene.decision(of: bob)]
    #expect(decisions == ["skipped nothing_to_say -", ""])
    #expect(lines.texts.contains("warning: a campaign's hour cannot be served"))
  }
}
