import Foundation
import Testing

@testable import tacet_bench

/// Above the highest number that Linux gives to a process.
private let noProcess: pid_t = (1 << 22) + 1

@Suite("What is known of a process")
struct ProcessFactsTests {
  @Test("is read from its status")
  func status() {
    let facts = ProcessFacts(
      status: "Name:\tpostgres\nUmask:\t0077\nState:\tS (sleeping)\nPid:\t12\nPPid:\t7\nVmPeak:\t  999999 kB\n"
        + "VmHWM:\t   48000 kB\nVmRSS:\t   44100 kB\nThreads:\t4\n")
    #expect(facts.parent == 7)
    #expect(facts.threads == 4)
    #expect(facts.residentKilobytes == 44_100)
    #expect(facts.residentKilobytesMax == 48_000)
  }

  @Test("is nothing more than its status says", arguments: ["", "VmRSS:", "VmRSS:\tmany kB", "Name:\tVmRSS: 5 kB"])
  func silence(text: String) {
    #expect(ProcessFacts(status: text) == ProcessFacts(status: ""))
  }

  @Test("is found of this process, and not of one that is not there")
  func own() throws {
    let facts = try #require(ProcessFacts(of: getpid()))
    #expect(facts.parent == getppid())
    #expect(facts.threads >= 1)
    #expect(facts.residentKilobytes > 0)
    #expect(facts.residentKilobytesMax >= facts.residentKilobytes)
    #expect(ProcessFacts(of: noProcess) == nil)
  }
}

@Suite("Processor time")
struct ProcessorTimeTests {
  @Test("grows with what a process does, and is nobody's who is not there", .timeLimit(.minutes(1)))
  func own() throws {
    let before = try #require(ProcessorTime.nanoseconds(of: getpid()))
    // The other tests' threads count as well, so it may have grown by then.
    while try #require(ProcessorTime.nanoseconds(of: getpid())) < before + 1_000_000 {}
    #expect(ProcessorTime.nanoseconds(of: noProcess) == nil)
  }

  @Test(
    "of children that have ended is the sum of cutime and cstime",
    arguments: [
      ("7 (postgres) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 300 45 20 0 1 0 500", 3_450_000_000),
      ("7 (a) b (c) 9) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 0 1 20 0 1 0 500", 10_000_000),
      ("7 (postgres) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 300", nil), ("", nil), ("7 postgres S", nil),
    ] as [(String, UInt64?)])
  func ended(stat: String, nanoseconds: UInt64?) {
    #expect(ProcessorTime.ofEndedChildren(stat: stat, ticksPerSecond: 100) == nanoseconds)
  }
}

@Suite("What a database server has used")
struct ClusterUsageTests {
  @Test(
    "since an earlier moment is what its processes have, and those that have ended",
    arguments: [
      ([1: 10], 0, [1: 10], 0, 0), ([1: 10], 0, [1: 15], 0, 5),
      // One has come.
      ([1: 10], 0, [1: 10, 2: 7], 0, 7),
      // One has come and gone.
      ([1: 10], 3, [1: 10], 9, 6),
      // One is gone that had used 8 before, and 12 in the end.
      ([1: 10, 2: 8], 3, [1: 10], 15, 4),
      // Its end is counted in hundredths of a second, so that it may seem to have used less.
      ([1: 10, 2: 8], 3, [1: 10], 10, 0),
    ] as [([pid_t: UInt64], UInt64, [pid_t: UInt64], UInt64, UInt64)])
  func since(
    _ before: [pid_t: UInt64], _ endedBefore: UInt64, _ after: [pid_t: UInt64], _ ended: UInt64, _ used: UInt64
  ) {
    let earlier = ClusterUsage(running: before, ended: endedBefore)
    #expect(ClusterUsage(running: after, ended: ended).since(earlier) == used)
  }

  @Test("a backend that is no PostgreSQL of this machine has no server")
  func stranger() {
    #expect(ClusterUsage.postmaster(ofBackend: getpid()) == nil)
    #expect(ClusterUsage.postmaster(ofBackend: noProcess) == nil)
  }
}
