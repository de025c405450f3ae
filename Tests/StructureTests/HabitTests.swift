import Foundation
import Testing

@Suite("Habits of the source")
struct HabitTests {
  /// One concept whole.
  private static let linesMax = 500

  /// Where tasks are made with the reactor's executor. The library for apps runs where there is none.
  private static let taskMakers = ["Sources/Runtime/Reactors/Reactor.swift"]

  /// How slow work is moved off the reactors, in so many words.
  private static let offReactor = "Task(executorPreference: globalConcurrentExecutor)"

  /// Everything that may lie beside the sources; dot-files and a licence may too.
  private static let topLevel: Set<String> = [
    "Package.swift", "Package.resolved", "Sources", "Tests", "db", "deploy", "openapi.yaml", "README.md", "LICENSE",
    "LICENSE.txt", "LICENSE.md",
  ]

  @Test("tasks are made by the reactor, or expressly away from all reactors")
  func tasks() {
    let bare = /\bTask\s*(<[^>]*>)?\s*(\([^)]*\))?\s*\{|\bTask\.(detached|immediate)|\bDispatchQueue\b/
    let files = SourceTree.sources.filter { !Self.taskMakers.contains($0.path) && $0.module != "TacetClient" }
    #expect(matches(in: files) { $0.contains(bare) && !$0.contains(Self.offReactor) } == [])
  }

  @Test("no module is named like a type inside it")
  func moduleNames() {
    let declaration = /\b(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)/
    let homonyms = SourceTree.sources.flatMap { file in
      file.code.compactMap { $0.firstMatch(of: declaration) }.filter { $0.1 == file.module }.map { _ in file.path }
    }
    #expect(homonyms == [])
  }

  @Test("every unsafe or unchecked mark says why it is safe")
  func unsafeMarks() {
    let mark = /@unchecked Sendable|nonisolated\(unsafe\)|Unmanaged/
    let bare = SourceTree.sources.flatMap { file in
      zip(0..., file.code).filter { $0.1.contains(mark) && !isExplained($0.0, in: file) }.map {
        "\(file.path):\($0.0 + 1): \(file.lines[$0.0])"
      }
    }
    #expect(bare == [])
  }

  @Test("files stay short")
  func lengths() {
    let long = (SourceTree.sources + SourceTree.tests).filter { $0.lines.count - 1 > Self.linesMax }
    #expect(long.map { "\($0.path): \($0.lines.count - 1) lines" } == [])
  }

  @Test("file names say what is inside")
  func fileNames() {
    let empty = /Util|Helper|Common|Manager|Misc/
    #expect((SourceTree.sources + SourceTree.tests).map(\.path).filter { $0.contains(empty) } == [])
  }

  @Test("no two scripts that are sourced together name a function the same")
  func shellFunctions() {
    let names = SourceTree.paths(under: "deploy/lib", endings: [".sh"]).flatMap { path in
      SourceTree.text(path).matches(of: /(?m)^(\w+)\(\)/).map { String($0.1) }
    }
    #expect(!names.isEmpty)
    #expect(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys.sorted() == [])
  }

  @Test("each suite that is to run with every type of ids is one")
  func suitesOfIDs() {
    let lines = SourceTree.text("deploy/test").matches(of: /(?m)^id_suites\+?='\|?(.*)'$/)
    let names = lines.flatMap { $0.1.split(separator: "|").map(String.init) }
    let declared = SourceTree.suites.filter { $0.value.contains { $0.path.hasPrefix("Tests/Push/") } }
    #expect(names.count > 30)
    #expect(names.filter { declared[$0] == nil } == [])
  }

  @Test("the top of the repository holds nothing unexpected")
  func top() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
    #expect(names.filter { !$0.hasPrefix(".") && !Self.topLevel.contains($0) } == [])
  }

  @Test("what is left to do has an issue number")
  func leftToDo() throws {
    // Put together, so that this line does not find itself.
    let words = try Regex("\\b(" + ["TO" + "DO", "FIX" + "ME", "X" + "XX"].joined(separator: "|") + ")\\b")
    let paths = ["Sources", "Tests", "db", "deploy"].flatMap {
      SourceTree.paths(under: $0, endings: [".swift", ".h", ".sql", ".sh", ".md", ".yaml"])
    }
    let open = paths.flatMap { path in
      SourceTree.text(path).split(separator: "\n").filter { $0.contains(words) && !$0.contains(/#\d+/) }.map {
        "\(path): \($0)"
      }
    }
    #expect(open == [])
  }

  @Test("every statement of the service stands in the store")
  func statements() {
    let sql = /\b(select|insert into|update|delete from)\b.*\b(from|values|set|tacet\.|public\.)/
    // HostWiring writes SQL for operators to run.
    let owners: Set<String> = ["Postgres", "PushStore", "tacet-bench"]
    let files = SourceTree.sources.filter { !owners.contains($0.module) && !$0.path.contains("/HostWiring/") }
    let found = files.flatMap { file in
      file.lines.filter { line in
        !line.contains(/^\s*\/\//) && line.contains("\"") && line.contains(sql)
      }.map { "\(file.path): \($0)" }
    }
    #expect(found == [])
  }

  @Test("names and texts are quoted for SQL and shells in one file, by bytes")
  func quoting() {
    let quotes = /replac\w*\((of: )?#?"(\\"|'|\\\\|\\|\$\$)"|'\\{1,2}''|"\\"\\""|"''"/
    let files = SourceTree.sources.filter {
      $0.path != "Sources/Runtime/Postgres/QuotedText.swift" && $0.folder != "Build"
    }
    #expect(matches(in: files) { $0.contains(quotes) } == [])
  }

  @Test("no script or page gives curl a secret as an argument, which everybody on the machine can read")
  func secretsInArguments() {
    let secret = /(-H|--header)[ =]"[^"]*(?i:authorization|signature)[^"]*\$|--oauth2-bearer|(-u|--user)[ =]/
    let scripts = Set(SourceTree.paths(under: "deploy", endings: [""]) + PageTests.pages).sorted()
    let commands = scripts.flatMap { path in
      SourceTree.text(path).replacing("\\\n", with: " ").split(separator: "\n").filter { $0.contains("curl ") }
    }
    #expect(commands.count > 30)
    #expect(commands.filter { $0.contains(secret) } == [])
  }

  /// By a comment in the three lines around, or in the declaration that the line stands in, or above it.
  private func isExplained(_ line: Int, in file: SourceFile) -> Bool {
    let declaration = file.lines[..<line].lastIndex { $0.contains(/^\s*(\w+ )*(func|init|class|struct|enum|actor)\b/) }
    let first = max(0, min(line - 3, (declaration ?? line) - 1))
    return file.lines[first...min(file.lines.count - 1, line + 3)].contains { $0.contains("//") }
  }

  private func matches(in files: [SourceFile], where isWrong: (String) -> Bool) -> [String] {
    files.flatMap { file in
      zip(1..., file.code).filter { isWrong($0.1) }.map { "\(file.path):\($0.0): \($0.1)" }
    }
  }
}
