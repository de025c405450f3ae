import TestLogs
import Testing

@testable import Campaigns

@Suite("A campaign whose audience fails")
struct FailingAudienceTests {
  /// A pace by which the hour of the scene's zone has come, and of that an hour to the west of it.
  private func pace(in scene: CoachScene) async throws -> CampaignPace {
    let minutes = try await scene.sql(
      "select (extract(epoch from (now() at time zone '\(scene.zone)')::time) / 60)::int - 70")
    var pace = CampaignPace()
    pace.standardMinutes = try #require(Int(minutes))
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
    let west = try await scene.sql(
      """
      select name from pg_timezone_names z where name ~ '^Etc/GMT[+-]'
        and utc_offset = now() at time zone '\(scene.zone)' - now() at time zone 'UTC' - interval '1 hour' limit 1
      """)
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
