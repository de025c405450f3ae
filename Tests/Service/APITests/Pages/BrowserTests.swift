import Foundation
import TestProcesses
import TestRepository
import Testing

@testable import API

@Suite("The pages in a browser", .timeLimit(.minutes(20)))
struct BrowserTests {
  private static let script = Repository.file("deploy/lib/browse-dashboard.py").path

  @Test(
    "somebody logs in, searches, reads an explanation and leaves; wide and narrow, light and dark, without JavaScript")
  func visit() async throws {
    let message = UUID().uuidString.lowercased()
    let story = Story.explanation(of: message, to: UUID().uuidString.lowercased())
    let routes = [
      RouteCondition(
        name: "com.example.app/production", isReady: false, isNeeded: true, problem: "InvalidProviderToken")
    ]
    try await PageRig.run(routes: routes, explanations: [story]) { rig in
      let ledger = Ledger(rig: rig)
      try await ledger.fill()
      try await ledger.fillEngagement()
      try await rig.sql("update tacet.push_log set subject_id = '\(message)' where subject_id = '\(ledger.message)'")
      let arguments = [
        "python3", Self.script, "check", "http://127.0.0.1:\(rig.port)", PageRig.serviceKey, ledger.user, message,
        String(ledger.token.prefix(10)),
      ]
      // It throws when the script ends with anything but 0, with what the script said.
      let said = try await onOwnThread { try run(arguments) }
      #expect(said.contains("nothing wrong"))
    }
  }
}
