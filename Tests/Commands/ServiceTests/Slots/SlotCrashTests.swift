import Foundation
import Testing

/// `CRASH_SECONDS` and `CRASH_SEED` are as for the other crashes.
@Suite("Slots on two replicas that are killed", .serialized)
struct SlotCrashTests {
  @Test("push each row once")
  func books() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 15
    let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    let run = try await SlotCrashRun(seed: seed, seconds: seconds)
    try await run.play()
    let rows = try await run.scene.sql(
      "select string_agg(n, ', ') from (select status || ' ' || count(*) as n from tacet.notif_deliveries group by status) x"
    )
    print("slot crash run: seed \(seed), \(run.kills) kills, \(run.waves) waves, rows: \(rows)")
    let violations = try await run.violations()
    #expect(violations == [], "seed \(seed)")
    #expect(try await run.stop() == [0, 0])
    #expect(run.kills >= SlotCrashRun.killsMin)
    // A run that did nothing would balance as well.
    let sent = try await run.scene.sql("select count(*) from tacet.notif_deliveries where status = 'sent'")
    #expect(Int(sent) ?? 0 >= 300)
  }
}
