import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
  @Test("every operation of the description is called once with curl")
  func operations() throws {
    let readme = try String(contentsOf: SourceTree.root.appending(path: "README.md"), encoding: .utf8)
    let calls = readme.replacing("\\\n", with: " ").split(separator: "\n")
      .filter { $0.contains("curl ") || $0.hasPrefix("as_client ") || $0.hasPrefix("as_server ") }
    let operations = try Self.operations()
    #expect(operations.count > 10)
    let missing = operations.filter { operation in !calls.contains { Self.call(String($0), is: operation) } }
    #expect(missing.map { "\($0.method) \($0.path)" } == [])
  }

  private struct Operation {
    let method: String
    let path: String
  }

  private static func operations() throws -> [Operation] {
    let text = try String(contentsOf: SourceTree.root.appending(path: "openapi.yaml"), encoding: .utf8)
    var path = ""
    var operations: [Operation] = []
    for line in text.split(separator: "\n").prefix(while: { $0 != "components:" }) {
      if let match = line.wholeMatch(of: /\ {2}(\/.*):/) { path = String(match.1) }
      if let match = line.wholeMatch(of: /\ {4}(get|put|post|delete):/) {
        operations.append(Operation(method: match.1.uppercased(), path: path))
      }
    }
    return operations
  }

  /// A shell variable or a value stands where the path has a parameter. Without `-X`, content makes a POST.
  private static func call(_ line: String, is operation: Operation) -> Bool {
    let standard = line.contains(/\ -d\ |"\$@"/) ? "POST" : "GET"
    let method = line.firstMatch(of: /-X (\w+)/).map { String($0.1) } ?? standard
    let path = operation.path.replacing(/\{\w+\}/, with: "[^/\" ]+")
    guard let pattern = try? Regex("\\$DEMO_URL\(path)[\" ]") else { return false }
    return method == operation.method && line.contains(pattern)
  }
}
