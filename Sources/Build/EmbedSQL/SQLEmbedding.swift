import Foundation
import PackagePlugin

/// Makes the SQL files under `db` part of the target that uses it: `SQLFiles`, `PushStatements` and `StatementCall`.
///
/// The folders are inputs as well as the files, so that the next build notices a file that is added or removed.
@main
struct SQLEmbedding: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let db = context.package.directoryURL.appending(path: "db")
    let inside =
      FileManager.default.enumerator(at: db, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    let inputs = inside.filter { $0.pathExtension == "sql" || $0.hasDirectoryPath }.sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "SQLFiles.swift")
    return [
      .buildCommand(
        displayName: "Embedding the SQL files", executable: try context.tool(named: "embed-files").url,
        arguments: ["sql", output.path, db.path], inputFiles: inputs, outputFiles: [output])
    ]
  }
}
