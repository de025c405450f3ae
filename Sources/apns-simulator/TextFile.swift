import ArgumentParser
import FoundationEssentials

/// Small files, with errors that name the path.
enum TextFile {
  static func read(_ path: String) throws -> String {
    do {
      return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    } catch {
      throw ValidationError("\(path) cannot be read: \(error)")
    }
  }

  /// Written whole or not at all: who waits for the file never sees half of it.
  static func write(_ text: String, to path: String) throws {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw ValidationError("\(path) cannot be written: \(error)")
    }
  }
}
