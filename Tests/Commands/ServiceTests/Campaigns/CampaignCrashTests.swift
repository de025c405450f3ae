import Foundation
import Testing

/// `CRASH_SECONDS` says how long processes are killed (25 unless it says otherwise), and `CRASH_SEED` repeats the moments of a
/// run, as for the other crashes.
@Suite("Two campaigns on two replicas that are killed", .serialized)
struct CampaignCrashTests {
  @Test("push each user once a day at the most, and forget nobody")
  func books() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 25
    let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    print("campaign crash run: seed \(seed), \(seconds) s")
    let run = try await CampaignCrashRun(seed: seed, seconds: seconds)
    let books = try await run.play()
    print("campaign crash run: seed \(seed); \(books.summary)")
    #expect(books.violations == [], "seed \(seed)")
    #expect(try await run.coach.scene.parked() == 0)
    #expect(try await run.stop() == [0, 0])
    // A run that did nothing would balance as well.
    #expect(run.kills >= CampaignCrashRun.killsMin)
    #expect(books.users.count >= 150)
  }
}
