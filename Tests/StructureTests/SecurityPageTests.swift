import Testing

@Suite("The page about security")
struct SecurityPageTests {
  /// Its points, each in one line, with the tests at the end.
  private static let points = SourceTree.text(".github/SECURITY.md").replacing("\n  ", with: " ").split(separator: "\n")
    .filter { $0.hasPrefix("- **") }

  @Test("each protection names its tests, and they exist")
  func tests() {
    #expect(Self.points.count > 20)
    for point in Self.points {
      let named = point.matches(of: /`(\w+Tests)(?:\.(\w+))?`/)
      #expect(!named.isEmpty, "\(point)")
      for name in named {
        let suite = SourceTree.suites[String(name.1), default: []]
        #expect(!suite.isEmpty, "\(name.1)")
        guard let function = name.2 else { continue }
        #expect(suite.contains { file in file.code.contains { $0.contains("func \(function)(") } }, "\(name.0)")
      }
    }
  }
}
