import Foundation
import Reactors
import TestProcesses
import TestReactors
import Testing

@testable import tacet_bench

@Suite("The service as a child")
struct ServiceChildTests {
  @Test("is asked to end, and has ended well when its status says so")
  func orderly() async throws {
    try await withProgram(#"trap "exit 0" TERM"#) { program in
      try await onReactor { reactor in
        let child = try await program.start(on: reactor)
        #expect(child.isRunning)
        try await child.stop(on: reactor)
        #expect(!child.isRunning)
      }
    }
  }

  @Test("with another status has not ended well", arguments: [#"trap "exit 3" TERM"#, ":"])
  func disorderly(script: String) async throws {
    try await withProgram(script) { program in
      try await onReactor { reactor in
        let child = try await program.start(on: reactor)
        await #expect(throws: BenchError.self) { try await child.stop(on: reactor) }
      }
    }
  }

  @Test("has its settings and nothing else in its environment")
  func environment() async throws {
    try await withProgram("env") { program in
      try await onReactor { reactor in
        let child = try await program.start(on: reactor)
        try? await child.stop(on: reactor)
      }
      let names = program.log.split(separator: "\n").map { $0.prefix { $0 != "=" } }
      #expect(Set(names).subtracting(["_", "PWD", "SHLVL", "OLDPWD", "ready"]) == ["A", "PATH"])
      #expect(program.log.contains("A=b\n"))
    }
  }

  private func withProgram(_ script: String, _ work: (StandIn) async throws -> Void) async throws {
    let folder = try makeTemporaryFolder("tacet-bench")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await work(try await StandIn(script, in: folder))
  }
}

/// A shell script in place of the service: runs its own lines, says that it is ready, and waits.
private struct StandIn: Sendable {
  private let program: String
  private let logFile: String

  init(_ script: String, in folder: String) async throws {
    program = "\(folder)/service"
    logFile = "\(folder)/service.log"
    try await writeProgram("\(script)\necho ready\nwhile :; do sleep 0.02; done\n", to: program)
  }

  /// What it has printed.
  var log: String { (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "" }

  /// Starts it, and returns when it is ready.
  func start(on reactor: isolated Reactor) async throws -> ServiceChild {
    let child = try ServiceChild(program, settings: ["A": "b"], log: logFile)
    while !log.contains("ready\n") { await reactor.sleep(for: .milliseconds(1)) }
    return child
  }
}

/// Writes a shell script that can be run.
///
/// By another process: a descriptor of this one could be inherited by a child that another test starts at the same
/// moment, and a program that somebody may write to cannot be run.
func writeProgram(_ lines: String, to path: String) async throws {
  let command = ["/bin/sh", "-c", #"printf '#!/bin/sh\n%s' "$1" >"$0" && chmod 755 "$0""#, path, lines]
  _ = try await onOwnThread { try run(command) }
}

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
