import Foundation
import TestProcesses
import TestRepository
import Testing

@testable import API

@Suite("The modules for browsers under Node", .timeLimit(.minutes(10)))
struct NodeTests {
  @Test("all of their tests pass")
  func pass() async throws {
    let folder = Repository.file("Tests/Service/APITests/BrowserClient").path
    // It throws when a test fails, with what Node said.
    let said = try await onOwnThread { try run(["node", "--test", folder]) }
    #expect(said.contains("# fail 0\n"))
    let counted = try #require(said.firstMatch(of: /# pass (\d+)/)?.output.1)
    #expect(try #require(Int(counted)) > 500)
  }

  @Test("the declarations describe them")
  func declarations() async throws {
    let sample = Repository.file("Tests/Service/APITests/BrowserClient/sample.mts").path
    _ = try await onOwnThread {
      try run([
        "tsc", "--strict", "--noEmit", "--target", "es2022", "--module", "node16", "--moduleResolution", "node16",
        "--lib",
        "es2022,dom", sample,
      ])
    }
  }

  @Test("every file is part of the service")
  func files() {
    #expect(ClientFileRoutes.files.count == 12 && ClientFileRoutes.files.allSatisfy { !$0.text.isEmpty })
  }
}
