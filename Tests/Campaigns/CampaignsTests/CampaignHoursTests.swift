import Foundation
import PushRules
import PushStore
import Reactors
import TestLogs
import Testing

@testable import Campaigns

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
      for _ in 0..<600 where !decision.hasPrefix("committed") {
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
      ("{UTC}", "{1,2,3,4,5,6,7}", Duration.seconds(3500), Duration.seconds(3601)),
      // An hour behind: the hour comes there an hour later.
      ("{Etc/GMT+1}", "{1,2,3,4,5,6,7}", .seconds(7100), .seconds(7201)),
      ("{Etc/GMT+1,UTC}", "{1,2,3,4,5,6,7}", .seconds(3500), .seconds(3601)),
      ("{UTC}", "{3}", .zero, day * 7 + .seconds(3601)),
    ] {
      try await scene.sql(
        """
        update tacet.campaigns set weekdays = '\(weekdays)';
        delete from tacet.campaign_runs;
        insert into tacet.campaign_runs (due_at, campaign, cause, zones)
        values (now() - interval '23 hours', 'coach', 'schedule', '\(zones)'),
          (now() - interval '25 hours', 'coach', 'schedule', '{Etc/GMT}'), (now(), 'coach', 'request', '{Etc/GMT}')
        """)
      let found = try #require(try await Self.wait(scene))
      #expect(found > least && found < most, "\(zones) \(weekdays)")
    }
    // Nobody was seen, so nobody waits; nobody has looked, so somebody may live anywhere.
    try await scene.sql("update tacet.campaigns set weekdays = default; update tacet.campaign_runs set zones = '{}'")
    #expect(try await Self.wait(scene) == nil)
    try await scene.sql("delete from tacet.campaign_runs")
    #expect(try #require(try await Self.wait(scene)) < .seconds(3601))
    try await scene.sql("update tacet.campaigns set is_scheduled = false")
    #expect(try await Self.wait(scene) == nil)
  }

  private static func wait(_ scene: CoachScene) async throws -> Duration? {
    try await scene.withStore(logger: RunLogs.logger) { store, reactor in
      try await store.timeUntilNextHour(of: ["coach"], minutes: 600, on: reactor)
    }
  }
}
