import Foundation
import TestRandomness
import Testing

@testable import PushStore

@Suite("Time zones that hosts and their users write")
struct ZoneTests {
  /// Six kilobytes that nothing compresses, of which PostgreSQL would read the first 255 bytes as a POSIX rule.
  private static let long = """
    'AAA+1' || (select string_agg(translate(md5(i::text), '0123456789', 'ghijklmnop'), '') from generate_series(1, 200) i)
    """

  @Test(
    "are told by one name, or are none",
    arguments: [
      ("'Europe/Berlin'", "Europe/Berlin"), ("'eUROPE/bERLIN'", "Europe/Berlin"), ("'utc'", "UTC"),
      ("'Etc/GMT+12'", "Etc/GMT+12"), ("'EST5EDT'", "EST5EDT"), ("'GMT0'", "GMT0"), ("null", ""), ("''", ""),
      ("' UTC'", ""), ("'UTC '", ""), ("'FOO+99'", ""), ("'UTC+1'", "Etc/GMT-1"), ("'<+05>-5'", ""), ("'PST'", ""),
      ("'posix/Europe/Berlin'", ""), ("'right/Europe/Berlin'", ""), ("'localtime'", ""), ("'../UTC'", ""),
      ("'CET'", "Europe/Brussels"), ("'wet'", "Europe/Lisbon"), ("'MST'", "America/Phoenix"), ("'+03:00'", "Etc/GMT-3"),
      ("'GMT-0330'", ""), ("'gmt+05:30'", "Asia/Kolkata"), ("'UTC-11'", "Etc/GMT+11"), ("'+15:00'", ""),
      ("'US/Pacific-New'", "America/Los_Angeles"), ("'Etc/Unknown'", ""),
      ("'Europe'", ""), ("'Europe/'", ""), ("'Mars/Olympus_Mons'", ""), ("E'UTC\\n'", ""), (long, ""),
      ("repeat('x', 65)", ""), ("repeat('UTC', 5000000)", ""),
    ])
  func known(zone: String, name: String) async throws {
    let found = try await Self.database.value.sql("select coalesce(tacet.known_zone(\(zone)), '')")
    #expect(found == name)
  }

  @Test(
    "in which the clocks change have summer time, whatever they are called",
    arguments: [
      ("CET", "Europe/Paris"), ("MET", "Europe/Paris"), ("EET", "Europe/Athens"), ("WET", "Europe/Lisbon"),
      ("CST6CDT", "America/Chicago"), ("Asia/Calcutta", "Asia/Kolkata"), ("Europe/Kiev", "Europe/Kyiv"),
    ])
  func summer(name: String, same: String) async throws {
    let remaining = ["2026-01-15 23:30Z", "2026-07-15 23:30Z"].map { moment in
      [name, same].map { "tacet.quiet_hours_remaining('22:00', '07:00', '\($0)', '\(moment)')" }
        .joined(separator: " is not distinct from ")
    }
    let found = try await Self.database.value.sql("select \(remaining.joined(separator: " and "))")
    #expect(found == "t")
  }

  @Test("that the server has lost since they were noted mean a zone with the same rules, or none")
  func lost() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      update tacet.time_zones set name = 'Gone/Zone' where spelling = 'europe/berlin';
      insert into tacet.time_zones values ('new/zone', 'New/Zone')
      """)
    let moments = ["2026-03-29 00:59Z", "2026-03-29 01:00Z", "2027-10-31 00:59Z", "2027-10-31 01:00Z"]
    for moment in moments {
      let clocks = ["tacet.known_zone('Europe/Berlin')", "'Europe/Paris'"].map { "'\(moment)' at time zone \($0)" }
      #expect(try await database.sql("select \(clocks[0]) = \(clocks[1])") == "t", "\(moment)")
    }
    #expect(try await database.sql("select tacet.known_zone('New/Zone') is null") == "t")
    // What has no other name now has one again after the next migration.
    try await database.sql("select tacet.learn_time_zones()")
    #expect(try await database.sql("select tacet.known_zone('Europe/Berlin')") == "Europe/Berlin")
  }

  @Test("that the server has lost do not end quiet hours: those of the user's own zone count, or of UTC")
  func lostQuietHours() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'Asia/Tokyo'")
    let remaining = """
      select p.quiet_hours_remaining from tacet.recipient_preferences('\(user)', 'message', null, '2026-06-15 14:00Z') p
      """
    try await scene.database.sql(
      """
      insert into tacet.time_zones values ('gone/zone', 'Gone/Zone');
      insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_policy, quiet_zone)
      values ('\(user)', '22:00', '07:00', 'hold', 'Gone/Zone')
      """)
    #expect(try await scene.database.sql(remaining) == "08:00:00")
    try await scene.database.sql("update context_profiles set time_zone = null")
    #expect(try await scene.database.sql(remaining) == "")
    try await scene.database.sql("update tacet.preferences set quiet_start = '13:00'")
    #expect(try await scene.database.sql(remaining) == "17:00:00")
  }

  @Test("of six kilobytes keep nobody else's hour from being served")
  func longZone() async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: Self.long)
    try await scene.addUser(zone: "'Africa/Accra'")
    let noted = try await scene.database.sql(
      """
      do $$ begin
        perform \(CampaignScene.enrolDue(at: "'2026-06-15 11:30+00'"));
      end $$;
      select string_agg(time_zone, ' ' order by time_zone) from tacet.occasions
      """)
    #expect(noted == "Africa/Accra UTC")
  }

  @Test("of the profile go first, then that of the newest device, then UTC")
  func audience() async throws {
    let scene = try await EngagementScene().campaigns
    for (profile, devices, zone) in [
      ("'Asia/Tokyo'", ["'Europe/Berlin'"], "Asia/Tokyo"), ("null", ["'Europe/Berlin'"], "Europe/Berlin"),
      ("null", ["'Europe/Berlin'", "'asia/kolkata'"], "Asia/Kolkata"),
      ("null", ["'Europe/Berlin'", "null"], "Europe/Berlin"),
      ("null", ["'Europe/Berlin'", "'Mars/Olympus_Mons'"], "Europe/Berlin"), ("'CET'", [], "Europe/Brussels"),
      ("'Mars/Olympus_Mons'", ["'Europe/Berlin'"], "Europe/Berlin"), (Self.long, ["'Europe/Berlin'"], "Europe/Berlin"),
      ("null", ["'Mars/Olympus_Mons'"], "UTC"), ("null", [Self.long], "UTC"), ("null", [], "UTC"),
    ] {
      let user = try await scene.addUser(zone: profile)
      for (index, device) in devices.enumerated() {
        try await scene.database.sql(
          """
          insert into push_tokens (user_id, device_token, time_zone, registered_at)
          values ('\(user)', encode(sha256('\(user)\(index)'), 'hex'), \(device), now() + \(index) * interval '1 s')
          """)
      }
      let found = try await scene.database.sql(
        """
        select time_zone from \(CampaignScene.page("clock_timestamp(), only_user => '\(user)'")) p;
        select coalesce(tacet.user_time_zone('\(user)'), 'UTC');
        select coalesce(time_zone, 'UTC') from tacet.ritual_audience(now(), '\(user)');
        select coalesce(time_zone, 'UTC') from tacet.ritual_audience(now(), null) where user_id = '\(user)';
        select coalesce(tacet.known_zone(time_zone), 'UTC') from tacet.engagement_preferences(null) where user_id = '\(user)'
        """)
      #expect(
        found == Array(repeating: zone, count: 5).joined(separator: "\n"),
        "\(profile.prefix(40)), \(devices.map { $0.prefix(40) })")
    }
  }

  @Test("make no slot, key or claim fail, whatever they are; and each user is noted once")
  func anyZone() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let scene = try await CampaignScene()
    let names = try await scene.database.sql("select name from tacet.time_zones order by 1").split(separator: "\n")
    let zones = (0..<200).map { _ in Self.oddZone(names.map(String.init), using: &generator) }
    let document = try #require(String(data: JSONEncoder().encode(zones), encoding: .utf8))
    try await scene.database.sql(
      """
      create table odd as
        select gen_random_uuid() as id, zone, place from jsonb_array_elements_text($odd$\(document)$odd$) with ordinality as o (zone, place);
      insert into profiles (id, name) select id, 'Ada' from odd;
      insert into push_tokens (user_id, device_token, time_zone) select id, encode(sha256(id::text::bytea), 'hex'), zone from odd;
      insert into context_profiles (user_id, time_zone, notification_preferences)
        select id, case when place % 2 = 0 then zone end, '\(CampaignScene.daily)' from odd;
      insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_policy, quiet_zone)
        select id, '22:00', '07:00', 'hold', zone from odd;
      """)
    // A name is one whatever its letters' cases are, and nothing else is.
    let wrong = try await scene.database.sql(
      """
      select count(*)
      from odd o
      left join tacet.time_zones z on z.spelling = lower(o.zone collate "C")
      where tacet.known_zone(o.zone) is distinct from z.name
        or tacet.user_time_zone(o.id) is distinct from z.name
        or (tacet.quiet_hours_remaining('00:00', '23:59:59', o.zone, '2026-06-15 12:00Z') is null) <> (z.name is null)
        or (select count(*) from tacet.recipient_preferences(o.id, 'message', null, clock_timestamp())) <> 1
        or \(CampaignScene.refusal(of: "array[o.id]")) = 'eligibility_unknown'
      """)
    #expect(wrong == "0", "seed \(seed)")
    let hours = (0..<24).map {
      "perform \(CampaignScene.enrolDue(at: "timestamptz '2026-06-15 00:30Z' + \($0) * interval '1 h'"));"
    }
    let noted = try await scene.database.sql(
      """
      do $$
      begin
        \(hours.joined(separator: "\n"))
      end $$;
      select count(distinct user_id) = 200, bool_and(time_zone = 'UTC' or tacet.known_zone(time_zone) = time_zone)
      from tacet.occasions;
      select count(*) from tacet.campaign_runs s, unnest(s.zones) z where z not in (select name from tacet.time_zones)
      """)
    #expect(noted == "t|t\n0", "seed \(seed)")
  }

  private static let database = Task { try await TestDatabase.migrated() }

  private static func oddZone(_ names: [String], using generator: inout SeededGenerator) -> String {
    let name = names.randomElement(using: &generator) ?? "UTC"
    let junk = [
      "FOO+99", "<+05>-5", "", " ", "../", "\u{0301}", "🕰", "'; --", "\\", "\n", "posix/", "UTC-14:59", "Europe/",
    ]
    let odd = junk.randomElement(using: &generator) ?? ""
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: return name
    case 1:
      return String(
        name.map { Bool.random(using: &generator) ? Character($0.uppercased()) : Character($0.lowercased()) })
    case 2: return String(name.prefix(Int.random(in: 0...name.count, using: &generator)))
    case 3: return name + odd
    case 4: return odd + name
    case 5: return odd
    case 6: return String(repeating: name + odd, count: Int.random(in: 1...250, using: &generator))
    case 7: return "AAA+\(Int.random(in: 0...199, using: &generator))" + (Bool.random(using: &generator) ? "BBB" : "")
    default:
      let scalars = (0..<Int.random(in: 1...300, using: &generator)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 1...0x10_FFFF, using: &generator))
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }
}
