import Foundation
import Testing

@Suite("Pages")
struct PageTests {
  /// Every page of the repository.
  static let pages =
    ["README.md"] + ["Sources", "db", "deploy", ".github"].flatMap { SourceTree.paths(under: $0, endings: [".md"]) }

  @Test("every operation of the description is called once with curl")
  func operations() throws {
    let calls = SourceTree.text("deploy/calls").replacing("\\\n", with: " ").split(separator: "\n")
      .filter { $0.contains("curl ") || $0.contains(/^(expected=\d+ )?as_\w+\s/) }
    let operations = try Self.operations()
    #expect(operations.count > 10)
    let missing = operations.filter { operation in !calls.contains { Self.call(String($0), is: operation) } }
    #expect(missing.map { "\($0.method) \($0.path)" } == [])
  }

  @Test("the README can be read in one go")
  func readme() {
    #expect(SourceTree.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count - 1 <= 110)
  }

  @Test("the settings page has every setting of the code, and no other")
  func settings() {
    let page = Set(
      SourceTree.text("deploy/SETTINGS.md").split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
        row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) }
      })
    #expect(page.count > 50)
    // Those of a channel lie in its folder, beside reasons of its service that are written alike.
    let lines = SourceTree.sources.flatMap { file -> [String] in
      switch file.module {
      case "Settings": file.lines
      case "Channels": file.lines.filter { $0.contains("Setting") }
      default: []
      }
    }
    let literals = lines.flatMap { $0.matches(of: /"([A-Z]{3,}(?:_[A-Z]+)*)"/).map { String($0.1) } }
    #expect(page.subtracting(literals).sorted() == [])
    // The code also has beginnings of names, to recognise mistyped ones.
    let unknown = Set(literals).subtracting(page).filter { literal in !page.contains { $0.hasPrefix(literal) } }
    // And names of other programs' variables, to say that they are not used.
    #expect(unknown.subtracting(["ALL_PROXY", "HTTPS_PROXY"]).sorted() == [])
  }

  @Test("the way of a message through the code has as many files and lines as the page says, and at most 30 files")
  func wayOfAMessage() throws {
    let page = SourceTree.text("Sources/ARCHITECTURE.md")
    let way = try #require(page.firstRange(of: "To follow a plain message").map { page[$0.lowerBound...] })
    let said = try #require(way.firstMatch(of: /read these (\d+) files in this order, about ([\d,]+) lines/))
    let table = way.prefix(upTo: try #require(way.firstRange(of: "A delivery's states")).lowerBound)
    let files = table.matches(of: /\]\(([^)]+)\)/).map { "Sources/" + $0.1 }
    let lines = files.map { SourceTree.text($0).split(separator: "\n", omittingEmptySubsequences: false).count - 1 }
    #expect(Set(files).count == files.count && files.count == Int(said.1) && files.count <= 30)
    let total = lines.reduce(0, +)
    let told = try #require(Int(said.2.filter(\.isNumber)))
    #expect(abs(total - told) <= 100, "\(total) lines")
  }

  @Test("every link inside the repository leads to a file, and to a heading of it", arguments: pages)
  func links(page: String) throws {
    let folder = SourceTree.root.appending(path: page).deletingLastPathComponent()
    let links = SourceTree.text(page).matches(of: /\]\(([^)#\s]*)(?:#([^)\s]*))?\)/)
    for link in links where !link.1.contains("://") {
      let file = link.1.isEmpty ? SourceTree.root.appending(path: page) : folder.appending(path: String(link.1))
      #expect(FileManager.default.fileExists(atPath: file.path), "\(link.0)")
      guard let anchor = link.2 else { continue }
      let headings = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("#") }
      #expect(headings.contains { Self.anchor(of: $0) == anchor }, "\(link.0)")
    }
  }

  /// The anchor that GitHub gives a heading: small letters, digits, hyphens for spaces.
  private static func anchor(of heading: Substring) -> String {
    String(
      heading.drop { $0 == "#" || $0 == " " }.lowercased().compactMap { character in
        character == " " ? "-" : character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
      })
  }

  private struct Operation {
    let method: String
    let path: String
  }

  private static func operations() throws -> [Operation] {
    let text = try String(contentsOf: SourceTree.root.appending(path: "openapi.yaml"), encoding: .utf8)
    var path = ""
    var operations: [Operation] = []
    for line in text.split(separator: "\n").prefix(while: { !["components:", "webhooks:"].contains($0) }) {
      if let match = line.wholeMatch(of: /\ {2}(\/.*):/) { path = String(match.1) }
      if let match = line.wholeMatch(of: /\ {4}(get|put|post|delete):/) {
        operations.append(Operation(method: match.1.uppercased(), path: path))
      }
    }
    return operations
  }

  /// The path's parameter is a shell variable or a value. Without `-X`, content makes a POST.
  private static func call(_ line: String, is operation: Operation) -> Bool {
    let standard = line.contains(/\ -d\ |"\$@"/) ? "POST" : "GET"
    let method = line.firstMatch(of: /-X (\w+)/).map { String($0.1) } ?? standard
    let path = operation.path.replacing(/\{\w+\}/, with: "[^/\" ]+")
    guard let pattern = try? Regex("\\$DEMO_URL\(path)[\" ]") else { return false }
    return method == operation.method && line.contains(pattern)
  }
}
