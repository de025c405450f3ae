package import Foundation

/// The checkout that the tests were compiled from.
package enum Repository {
  /// The folder of `Package.swift`.
  package static let root: URL = {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  /// - Parameter path: from the root, as `db/migrations`.
  package static func file(_ path: String) -> URL { root.appending(path: path) }

  /// What a file holds.
  package static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }

  /// The files of a folder with an ending, by name; not of folders inside.
  package static func files(in path: String, ending: String) -> [URL] {
    let all = try? FileManager.default.contentsOfDirectory(at: file(path), includingPropertiesForKeys: nil)
    return (all ?? []).filter { $0.pathExtension == ending }.sorted { $0.path < $1.path }
  }

  /// The example of `db/CONTRACT.md`: its tables, and what fits Tacet to them after `tacet migrate`.
  package static func contractExample() throws -> (tables: String, wiring: String) {
    (try text("db/examples/contract_tables.sql"), try text("db/examples/contract.sql"))
  }
}
