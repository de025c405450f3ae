import Foundation
import Testing

@Suite("The page about security")
struct SecurityPageTests {
  /// The rows of its tables; the last cell names tests.
  private static let rows: [[Substring]] = {
    let page = SourceTree.root.appending(path: ".github/SECURITY.md")
    let lines = (try? String(contentsOf: page, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| protected |") }
      .map { $0.split(separator: "|").map { $0.trimmingPrefix(" ") } }
  }()

  @Test("each protection names its tests, and they exist")
  func tests() throws {
    #expect(Self.rows.count > 20)
    for row in Self.rows {
      let named = try #require(row.last).matches(of: /`(\w+)(?:\.(\w+))?`/)
      #expect(!named.isEmpty, "\(row.first ?? "")")
      for name in named {
        let pattern = try Regex("(struct|extension) \(name.1)\\b")
        let suite = SourceTree.tests.filter { file in file.code.contains { $0.contains(pattern) } }
        #expect(!suite.isEmpty, "\(name.1)")
        guard let function = name.2 else { continue }
        #expect(suite.contains { file in file.code.contains { $0.contains("func \(function)(") } }, "\(name.0)")
      }
    }
  }
}
