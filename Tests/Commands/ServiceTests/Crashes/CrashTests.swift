import Foundation
import Testing

/// The environment has two switches: `CRASH_SECONDS`, how long disruptions go on (60 unless it says otherwise), and
/// `CRASH_SEED`, which repeats the schedule of a run.
@Suite("Two replicas while everything dies", .serialized)
struct CrashTests {
  @Test("lose nothing, show nothing twice, and push nobody who has read or looks")
  func books() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 60
    let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    print("crash run: seed \(seed), \(seconds) s")
    let run = try await CrashRun(seed: seed, seconds: seconds)
    let (report, unfinished, hostErrors) = try await run.play()
    print("crash run: \(report.summary)")
    if !report.violations.isEmpty || !unfinished.isEmpty {
      print(try await run.evidence(about: report.violations, in: report.books))
    }
    #expect(unfinished == [:], "seed \(seed)")
    #expect(try await run.scene.parked() == 0)
    #expect(report.violations.count == 0, "\(report.summary)")
    #expect(report.books.wire.visible == report.books.wire.accepted.count)
    #expect(report.books.duplicatesOfTheKnown * 100 < report.books.wire.accepted.count, "\(report.summary)")
    #expect(hostErrors == [])
    #expect(try await run.stop() == [0, 0])
    // A run that did nothing would balance as well.
    #expect(report.books.committed.count > seconds * 3)
    #expect(report.books.disruptions.count >= seconds / 5)
  }
}
