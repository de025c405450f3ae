import Foundation
import PackagePlugin

/// Makes the SQL files under `db` part of the target that uses it, as text: `SQLFiles` and `SQLStatements`.
///
/// A file that is added, changed or removed is noticed by the next build.
@main
struct SQLEmbedding: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let db = context.package.directoryURL.appending(path: "db")
    let files = FileManager.default.enumerator(at: db, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    let sources = files.filter { $0.pathExtension == "sql" }.sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "SQLFiles.swift")
    return [
      .buildCommand(
        displayName: "Embedding \(sources.count) SQL files", executable: try context.tool(named: "embed-sql").url,
        arguments: [db.path, output.path], inputFiles: sources, outputFiles: [output])
    ]
  }
}
