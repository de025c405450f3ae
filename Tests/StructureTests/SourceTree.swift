import Foundation
import TestRepository

/// A Swift file of the repository.
struct SourceFile: Sendable {
  /// From the top of the repository.
  let path: String
  /// The folder under `Sources` or `Tests`, such as `Runtime`.
  let folder: String
  /// The folder of the target inside it.
  let module: String
  let lines: [String]
  /// The lines as code: string literals are emptied and comments cut off, roughly but on one line each.
  let code: [String]
  /// The modules this file imports.
  let imports: [String]

  var name: String { String(path.split(separator: "/").last ?? "") }

  init(path: String, text: String) {
    self.path = path
    let parts = path.split(separator: "/")
    folder = String(parts[1])
    module = String(parts[parts.count > 3 ? 2 : 1])
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    code = lines.map(Self.code)
    imports = code.filter { $0.contains("import ") }.compactMap(Self.importedModule)
  }

  private static func importedModule(_ line: String) -> String? {
    // Attributes and access level, the keyword, perhaps the kind of a single declaration, the module.
    let kinds = /(?:struct|class|enum|protocol|func|var|let|typealias)\s+/
    guard let keyword = line.firstRange(of: /(^|\s)import\s+/) else { return nil }
    return line[keyword.upperBound...].trimmingPrefix(kinds).firstMatch(of: /^\w+/).map { String($0.0) }
  }

  private static func code(_ line: String) -> String {
    var code: [UInt8] = []
    var isLiteral = false
    var previous: UInt8 = 0
    for byte in line.utf8 {
      if byte == UInt8(ascii: "\""), previous != UInt8(ascii: "\\") { isLiteral.toggle() }
      if isLiteral, byte != UInt8(ascii: "\"") {
        previous = previous == UInt8(ascii: "\\") ? 0 : byte
        continue
      }
      if byte == UInt8(ascii: "/"), previous == UInt8(ascii: "/") {
        code.removeLast()
        break
      }
      code.append(byte)
      previous = byte
    }
    return String(decoding: code, as: UTF8.self)
  }
}

/// The repository this test was compiled from.
enum SourceTree {
  static let root = Repository.root

  static let sources = files(under: "Sources")
  static let tests = files(under: "Tests")

  /// The files that declare or extend a structure of the tests, by its name.
  static let suites = tests.reduce(into: [String: [SourceFile]]()) { suites, file in
    // A pattern for each of ninety thousand lines takes a minute.
    for line in file.code where ["struct ", "extension ", "@Suite"].contains(where: line.hasPrefix) {
      guard let name = line.firstMatch(of: /\b(?:struct|extension) (\w+)/)?.1 else { continue }
      suites[String(name), default: []].append(file)
    }
  }

  /// Every file of a folder with one of the endings, as paths from the top.
  static func paths(under folder: String, endings: [String]) -> [String] {
    let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap { $0 as? String }
    return (all ?? []).filter { path in endings.contains { path.hasSuffix($0) } }.map { folder + "/" + $0 }.sorted()
  }

  static func text(_ path: String) -> String {
    (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
  }

  private static func files(under folder: String) -> [SourceFile] {
    paths(under: folder, endings: [".swift"]).map { SourceFile(path: $0, text: text($0)) }
  }
}
