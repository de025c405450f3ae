import Foundation
import Simulators
import TestProcesses
import Testing

@Suite("tacet push", .serialized)
struct PushCommandTests {
  /// Runs it with the settings of a scene; what it printed.
  private static func push(
    _ arguments: [String], settings: [String: String], exitCode: Int
  ) async throws -> String {
    let run = try ServiceProcess(["push"] + arguments, settings: settings)
    try #require(try await run.exitCode() == exitCode, "\(run.text)")
    return run.text
  }

  @Test("says what APNs answers for a token, without a database")
  func device() async throws {
    let scene = try await ServiceScene()
    let (known, gone) = (Conversation.newToken(), Conversation.newToken())
    scene.register(known)
    scene.register(gone, end: .unregistered(atMilliseconds: 1_700_000_000_000))
    var settings = scene.settings
    settings["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nowhere"
    let accepted = try await Self.push(["--device", known, "--title", "Hello"], settings: settings, exitCode: 0)
    #expect(accepted.contains("\(known.prefix(8)): APNs accepted it as "))
    let record = try #require(scene.simulator.service.withLog { $0.records(PushQuery()).records }.first)
    #expect(record.token == known && record.payload.contains(#""title":"Hello""#))
    let ended = try await Self.push(["--device", gone, "--title", "Hello"], settings: settings, exitCode: 1)
    #expect(ended.contains("no longer on the device") && ended.contains("To do: open the app on the device"))
    let wrong = try await Self.push(
      ["--device", "12", "--title", "Hello", "--app", "x y"], settings: settings, exitCode: 1)
    #expect(wrong.contains("To do: "))
    let empty = try await Self.push(["--device", known, "--title", ""], settings: settings, exitCode: 2)
    #expect(empty.contains("tacet push: --title must have 1 to 256 characters"))
    for arguments in [["--title", "A"], ["--title", "A", "--device", known, "--user", "1"], ["--device", known]] {
      _ = try await Self.push(arguments, settings: settings, exitCode: 64)
    }
    await scene.simulator.stop()
  }

  @Test("reaches a user's phone, browser and Android phone, and writes no row")
  func user() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away(), .init()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      try await channels.register(user, at: service)
      let told = try await Self.push(
        ["--user", user, "--title", "Hello", "--body", "World"], settings: scene.settings, exitCode: 0)
      #expect(told.components(separatedBy: " accepted it").count == 4, "\(told)")
      let shown = try #require(try await channels.browserPushes(atLeast: 1).first?.content)
      #expect(shown.contains(#""title":"Hello""#))
      try #require(await channels.android.waitForMessages(1, within: .seconds(60)))
      #expect(
        try await scene.sql("select (select count(*) from tacet.push_log), (select count(*) from tacet.pushes)")
          == "0|0")
      let none = try await Self.push(
        ["--user", conversation.people[1], "--title", "Hello"], settings: scene.settings, exitCode: 1)
      #expect(none.contains("No device of the user is registered."))
    }
  }
}
