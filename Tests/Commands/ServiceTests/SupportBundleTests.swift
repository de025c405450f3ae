import APNSSimulation
import Foundation
import TestProcesses
import Testing

@Suite("tacet support-bundle, and tacet doctor --watch")
struct SupportBundleTests {
  @Test("tells of machine, settings, checks, database and figures, without a value, a text, a token or a user")
  func whole() async throws {
    try await ServiceScene.play { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let message = try await conversation.say()
      _ = try await scene.pushes(of: message, atLeast: 1)
      let url = "\(service.origin)/metrics"
      let run = try ServiceProcess(["support-bundle", "--metrics-url", url], settings: scene.settings)
      #expect(try await run.exitCode(within: .seconds(60)) == 0)
      let text = run.text
      for part in [
        "== Tacet ", "Linux ", "\nAPNS_BUNDLE_ID\n", "\nok    database: ", #""newest": "#, #""kind": "message""#,
        #""decision": "sent""#, "\ntacet_outcomes_total{",
      ] {
        #expect(text.contains(part), "\(part)")
      }
      let hidden = scene.settings.filter {
        $0.value.utf8.count > 12 && $0.key != "APNS_BUNDLE_ID" && !$0.key.hasSuffix("_URL")
      }
      for secret in hidden.map(\.value) + conversation.tokens.joined() + [message] {
        #expect(!text.contains(secret), "\(secret.prefix(12))")
      }
    }
  }

  @Test("without a database and a service it says what it could not ask")
  func alone() async throws {
    let settings = ["DATABASE_URL": "postgresql://tacet:hunter2@127.0.0.1:1/app", "LISTEN_ADDRESS": "127.0.0.1:1"]
    let run = try ServiceProcess(["support-bundle"], settings: settings)
    #expect(try await run.exitCode(within: .seconds(60)) == 0)
    #expect(run.text.contains("== Database\ncannot be asked: "))
    #expect(run.text.contains("== Figures of http://127.0.0.1:1/metrics\ncannot be asked: "))
    #expect(!run.text.contains("hunter2"))
  }

  @Test("a watching doctor prints its first look like any other, and goes on")
  func watch() async throws {
    let doctor = try await DoctorScene()
    let watching = try ServiceProcess(["doctor", "--watch"], settings: doctor.settings)
    _ = try await watching.line(containing: " well, ", within: .seconds(60))
    try await watching.signal(SIGTERM)
    #expect(try await watching.exitCode() == 128 + 15)
    await doctor.scene.simulator.stop()
  }
}
