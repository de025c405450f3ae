import Foundation
import PackagePlugin

/// Makes the pages and documents in a target's folders part of it: `EmbeddedFiles.style_css` is the text of `style.css`.
@main
struct TextEmbedding: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let all = FileManager.default.enumerator(at: target.directoryURL, includingPropertiesForKeys: nil)
    let inputs = (all?.compactMap { $0 as? URL } ?? []).filter {
      ["css", "js", "ts", "vocabulary", "yaml"].contains($0.pathExtension)
    }.sorted {
      $0.path < $1.path
    }
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
    return [
      .buildCommand(
        displayName: "Embedding texts", executable: try context.tool(named: "embed-files").url,
        arguments: ["text", output.path] + inputs.map(\.path), inputFiles: inputs, outputFiles: [output])
    ]
  }
}
