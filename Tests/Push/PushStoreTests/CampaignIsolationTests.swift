import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Users of a campaign who keep no other from being noted", .uuidsOnly)
struct CampaignIsolationTests {
  private static let noted = """
    do $$ begin perform tacet.enrol_campaign('coach', clock_timestamp(), 'request'); end $$;
    select string_agg(user_id::text, ' ' order by user_id::text) from tacet.campaign_decisions
    """

  @Test("those whose rows make the gate fail are kept back alone")
  func gate() async throws {
    let scene = try await CampaignScene()
    let (ada, bob) = (try await scene.addUser(), try await scene.addUser())
    try await scene.database.sql(
      """
      create or replace function tacet.sessions_between(user_id uuid, first_moment timestamptz, end_moment timestamptz)
      returns table (session_id uuid) language plpgsql stable as $$
      begin
        if user_id = '\(ada)' then raise 'a row of this user'; end if;
      end $$
      """)
    #expect(try await scene.database.sql(Self.noted).hasSuffix(bob.text))
    #expect(try await scene.database.sql("select enrolled from tacet.campaign_runs") == "1")
  }

  @Test(
    "an hour that is no time, in the ledger's metadata, counts as none", arguments: ["1e300", "-1", "1e11", "\"x\""])
  func strangeHour(_ hour: String) async throws {
    let scene = try await CampaignScene()
    let (ada, bob) = (try await scene.addUser(), try await scene.addUser())
    try await scene.database.sql(
      """
      insert into tacet.push_log (user_id, push_type, decision, enqueued_at, sent_at, metadata)
      values ('\(ada)', 'event_based', 'sent', now(), now() - interval '30 hours', '{"due_at": \(hour)}')
      """)
    let users = [ada, bob].map { $0.text }.sorted().joined(separator: " ")
    #expect(try await scene.database.sql(Self.noted).hasSuffix(users))
  }

  @Test("a number of days between pushes may be any", arguments: ["2147483647", "-2147483648", "0"])
  func strangeGap(_ days: String) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser()
    try await scene.database.sql(
      """
      create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, refusal text) language sql stable as $$
        select p.user_id, p.time_zone, \(days), null from public.context_profiles p
        where only_user is null or p.user_id = only_user
      $$
      """)
    let turn = try await scene.claimed()
    #expect(turn.count == 1)
    #expect(try await scene.commit(try #require(turn.first)) != .refused("eligibility_unknown"))
  }

  /// What is in `auth.users`, and which of two users are looked at.
  @Test(
    "who has no account any more is not looked at, where users have accounts",
    arguments: [
      ("", "ada bob"), ("create schema auth; create table auth.users (id uuid primary key)", "ada bob"),
      (
        "create schema auth; create table auth.users (id uuid); insert into auth.users select gen_random_uuid()",
        "ada bob"
      ),
      ("create schema auth; create table auth.users (id uuid); insert into auth.users select '$bob'", "bob"),
      (
        "create schema auth; create table auth.users (id uuid); insert into auth.users values ('$ada'), ('$bob')",
        "ada bob"
      ),
      ("create schema auth; create table auth.users (email text)", "ada bob"),
    ])
  func accounts(_ sql: String, _ expected: String) async throws {
    let scene = try await CampaignScene()
    let users = ["ada": try await scene.addUser(), "bob": try await scene.addUser()]
    var sql = sql
    for (name, id) in users { sql = sql.replacing("$\(name)", with: id.text) }
    if !sql.isEmpty { try await scene.database.sql(sql) }
    for (name, id) in users {
      #expect(try await scene.isEligible(id, at: "now") == expected.contains(name), "\(name)")
      let refusal = try await scene.database.sql(
        """
        select tacet.campaign_refusal('coach', '\(id)', clock_timestamp(),
          (clock_timestamp() at time zone tacet.campaign_zone('coach', '\(id)'))::date, null) is not distinct from 'no_account'
        """)
      #expect(refusal == (expected.contains(name) ? "f" : "t"), "\(name)")
    }
  }

  @Test("an account that is deleted while the model writes keeps the push back")
  func deletedMeanwhile() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<2 { try await scene.addUser() }
    try await scene.database.sql(
      "create schema auth; create table auth.users (id uuid); insert into auth.users select id from profiles")
    let turn = try #require(try await scene.claimed().first)
    try await scene.database.sql("delete from auth.users where id = '\(turn.userID)'")
    #expect(try await scene.commit(turn) == .refused("no_account"))
  }
}
