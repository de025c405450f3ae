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
