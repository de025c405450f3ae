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
