import Foundation
import TestLogs
import TestProcesses
import Testing

@Suite("tacet")
struct TacetTests {
  @Test("--help tells of every command and where settings come from")
  func help() async throws {
    let run = try await CommandRun.tacet(["--help"])
    #expect(run.exitCode == 0)
    for word in ["USAGE: tacet", "serve", "migrate", "TACET_CONFIG"] { #expect(run.output.contains(word)) }
  }

  @Test("each command explains itself without needing a setting", arguments: ["serve", "migrate"])
  func commandHelp(_ command: String) async throws {
    let run = try await CommandRun.tacet([command, "--help"])
    #expect(run.exitCode == 0)
    #expect(run.output.contains("USAGE: tacet \(command)"))
  }

  @Test(
    "what is no command or no option is named and refused",
    arguments: [["serv"], ["serve", "--fast"], ["migrate", "extra"]])
  func unknown(_ arguments: [String]) async throws {
    let run = try await CommandRun.tacet(arguments)
    #expect(run.exitCode == 64)
    #expect(run.output.contains(arguments.last ?? ""))
  }
}

@Suite("Children of the tests")
struct ChildProcessTests {
  @Test("one that is dropped while it runs, or after its end, is killed and reaped", arguments: ["60", "0"])
  func dropped(seconds: String) async throws {
    var child: ChildProcess? = try ChildProcess(["sleep", seconds])
    let id = try #require(child?.id)
    #expect(FileManager.default.fileExists(atPath: "/proc/\(id)"))
    child = nil
    let deadline = ContinuousClock.now + .seconds(60)
    while FileManager.default.fileExists(atPath: "/proc/\(id)") {
      try #require(ContinuousClock.now < deadline)
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

@Suite("Standard output")
struct StandardStreamsTests {
  @Test("a command whose reader has ended goes on to its own end", arguments: [["doctor"], ["doctor", "--json"]])
  func closedPipe(_ arguments: [String]) async throws {
    let status = try await onOwnThread {
      let pipe = try ClosedPipe()
      close(pipe.reading)
      defer { close(pipe.writing) }
      let command = ["timeout", "--signal=KILL", "60", builtProgram("tacet")] + arguments
      return try ChildProcess(command, output: pipe.writing, environment: [:]).wait()
    }
    // Nothing is set up, so the doctor fails, as it does for a reader that stays. `timeout` exits with 128 and the signal of a
    // command that was killed.
    let whole = try await CommandRun.tacet(arguments)
    #expect(status == whole.exitCode << 8)
    #expect(whole.exitCode < 128)
  }
}

@Suite("What the program links")
struct LinkedLibrariesTests {
  @Test("no ICU and no more of Foundation than its essentials, which brings the program from 80 MB to 25")
  func libraries() async throws {
    let program = builtProgram("tacet")
    let lines = try await onOwnThread { try run(["ldd", program]) }.split(separator: "\n")
    let names = lines.compactMap { $0.split(whereSeparator: \.isWhitespace).first.map(String.init) }
    // Debug builds link Swift's libraries dynamically, so that they show here.
    #expect(names.filter { $0.contains("Foundation") } == ["libFoundationEssentials.so"])
    #expect(names.filter { $0.lowercased().contains("icu") } == [])
    #expect(names.contains { $0.hasPrefix("libcrypto.so") })
  }

  @Test("no second library for cryptography")
  func symbols() async throws {
    let program = builtProgram("tacet")
    let symbols = try await onOwnThread { try run(["nm", program]) }
    #expect(symbols.contains("P256PrivateKey"))
    #expect(!symbols.contains("CCryptoBoringSSL"))
  }
}

/// One run of the built `tacet`, from its start to its end.
struct CommandRun {
  /// The exit code; negative for the signal that killed it.
  let exitCode: Int32
  /// Standard output and standard error as they came.
  let output: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Runs `tacet` with these arguments, and with these settings as its whole environment.
  static func tacet(_ arguments: [String], _ settings: [String: String] = [:]) async throws -> CommandRun {
    RunLogs.note(settings: settings)
    return try await onOwnThread {
      let pipe = try ClosedPipe()
      let reading = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
      let spawned = Result {
        try ChildProcess(
          // A run that does not end by itself is a failure, not a test that hangs.
          ["timeout", "--signal=KILL", "60", builtProgram("tacet")] + arguments, output: pipe.writing,
          environment: settings.merging(["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]) { mine, _ in mine }
        )
      }
      close(pipe.writing)
      let child = try spawned.get()
      let output = try reading.readToEnd() ?? Data()
      RunLogs.append(output, to: RunLogs.name(for: arguments.first ?? "tacet"))
      let status = child.wait()
      // The layout of a wait status: the signal in the low seven bits, the exit code above them.
      let exitCode = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
      return CommandRun(exitCode: exitCode, output: String(decoding: output, as: UTF8.self))
    }
  }
}
