import Foundation
import Postgres
import PushRules
import TestIDs
import TestPostgres
import Testing

@testable import PushStore

@Suite("Campaigns and their host")
struct CampaignHostTests {
  private static let coachRights = """
    grant select on public.context_profiles, public.pattern_cache to $role;
    create policy context_profiles_service on public.context_profiles for select to $role using (true);
    create policy pattern_cache_service on public.pattern_cache for select to $role using (true);
    """

  @Test("a deleted user's decisions and caps of all groups go with the user; another's stay")
  func deleted() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<2 { try await scene.addUser() }
    try await scene.addCampaign("habit", ["cap_group": "'habit'"])
    let turns = try await scene.claimed()
    for turn in try await turns + scene.claimed(campaign: "habit") { _ = try await scene.commit(turn) }
    #expect(try await scene.database.sql("select count(*) from tacet.frequency_caps") == "4")
    try await scene.database.sql("delete from profiles where id = '\(turns[0].userID)'")
    try await erase(scene.database)
    for table in ["campaign_decisions", "frequency_caps", "pushes"] {
      let left = try await scene.database.sql("select distinct user_id from tacet.\(table)")
      #expect(left == turns[1].userID.text, "\(table)")
    }
    #expect(try await scene.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test(
    "a service with a role of its own can do all that a run needs", .uuidsOnly, arguments: ServiceRoleTests.Age.allCases
  )
  func role(_ age: ServiceRoleTests.Age) async throws {
    let database = try await ServiceRoleTests.database(age)
    let scene = try await CampaignScene(in: database)
    try await database.sql(Self.coachRights.replacing("$role", with: try #require(database.role)))
    let user = try await scene.addUser()
    let hour = try await database.sql(
      "select extract(hour from now() at time zone '\(ZoneNearNoon.name)')::int")
    try await withStore(database) { store, reactor in
      #expect(try await store.campaigns(on: reactor).map(\.name) == ["coach"])
      let zones = try await store.zones(ofCampaign: "coach", on: reactor)
      let slots = try await store.dueSlots(of: "coach", minutes: (Int(hour) ?? 0) * 60, zones: zones, on: reactor)
      #expect(slots.count == 1)
      for slot in slots + slots { _ = try await store.enrol(slot, on: reactor) }
      #expect(try await store.dueSlots(of: "coach", minutes: 0, zones: zones, on: reactor).isEmpty)
      #expect(try await store.eligible(for: "coach", onlyUser: nil, usersMax: 10, on: reactor).count == 0)
      let run = try #require(try await store.enrol("coach", onlyUser: nil, on: reactor))
      #expect(try await store.campaignRun(run.runID, on: reactor)?.enrolled == 0)
      let turns = try await store.claimTurns(10, lease: .seconds(60), lateAfter: .seconds(7200), on: reactor)
      let turn = try #require(turns.first)
      try await store.release([turn], on: reactor)
      let again = try #require(
        try await store.claimTurns(10, lease: .seconds(60), lateAfter: .seconds(7200), on: reactor).first)
      guard case .allowed = try await store.standing(of: again, on: reactor) else {
        Issue.record("refused")
        return
      }
      let limits = ModelUsageLimits(tokensMax: 10, costMicrodollarsMax: 10)
      let question = ModelQuestion(of: user, digest: "a")
      guard
        case .reserved(let reservation) = try await store.reserveModelUsage(
          for: question, tokens: 1, costMicrodollars: 1, within: limits, on: reactor)
      else {
        Issue.record("no model may be asked")
        return
      }
      try await store.settle(reservation, CampaignUsage(), reply: "Hi", on: reactor)
      guard case .committed = try await store.commit(.example, for: again, .example, on: reactor) else {
        Issue.record("refused")
        return
      }
      #expect(try await store.campaignStory(of: user, campaign: "coach", day: nil, on: reactor).days.count == 1)
      for table in PrunedTable.allCases {
        _ = try await store.prune(table.rawValue, olderThan: .seconds(1), on: reactor)
      }
    }
    #expect(try await claim(database).map(\.subject.kind) == ["event_based"])
  }

  @Test("what a campaign is, whose functions are called, is not such a service's to say")
  func reserved() async throws {
    try await ServiceRoleTests.refused(
      [
        "update tacet.campaigns set audience = 'pg_sleep'", "delete from tacet.campaigns", "truncate tacet.campaigns",
        "insert into tacet.campaigns select (k).* from (select null::tacet.campaigns as k) x",
      ], in: try await ServiceRoleTests.database(.after))
  }

  @Test("a host without the coach's tables is migrated; a run is refused, and other campaigns run")
  func withoutTables() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      create function tacet.everybody(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int) language sql stable as $$
        select p.id, null::text, 1 from public.profiles p
      $$;
      insert into tacet.campaigns (name, audience, material, push_types, definition, needs_no_session)
      select 'birthdays', 'tacet.everybody', material, '{birthday}', definition, false from tacet.campaigns where name = 'coach';
      insert into profiles (name) values ('Ada')
      """)
    try await withStore(database) { store, reactor in
      let error = await #expect(throws: PostgresError.self) {
        try await store.enrol("coach", onlyUser: nil, on: reactor)
      }
      #expect(error?.sqlState == "42P01")
      await #expect(throws: PostgresError.self) { try await store.zones(ofCampaign: "coach", on: reactor) }
      let zones = try await store.zones(ofCampaign: "birthdays", on: reactor)
      #expect(zones == ["UTC"])
      let runs = (
        try await store.enrol("birthdays", onlyUser: nil, on: reactor),
        try await store.enrol("none", onlyUser: nil, on: reactor)
      )
      #expect(runs.0?.enrolled == 1 && runs.1 == nil)
    }
    #expect(try await database.sql("select campaign from tacet.campaign_runs") == "birthdays")
  }

  @Test("the ledger keeps a campaign's words with what wrote them; of a message it keeps neither")
  func ledger() async throws {
    let chat = try await Chat()
    let scene = try await CampaignScene(in: chat.database)
    try await scene.addUser()
    let turn = try #require(try await scene.claimed().first)
    guard case .committed = try await scene.commit(turn) else {
      Issue.record("refused")
      return
    }
    try await chat.register("aa")
    try await chat.send()
    let events = try await claim(chat.database)
    try await chat.record(events) { RecipientOutcome(userID: $0, decision: .sent) }
    let rows = try await chat.database.sql(
      """
      select push_type, content, metadata - 'due_at', (metadata ->> 'due_at')::numeric = \(turn.dueAt)::numeric / 1000000
      from tacet.push_log order by push_type
      """)
    #expect(
      rows == """
        event_based|Tomorrow
        How do you feel?|{"layer": "event", "campaign": "coach"}|t
        message||{}|
        """)
    #expect(try await !scene.isEligible(turn.userID, at: "now"))
  }
}
