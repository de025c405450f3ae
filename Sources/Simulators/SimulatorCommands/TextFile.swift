internal import FoundationEssentials
internal import Glibc

/// Small files, with errors that name the path.
package enum TextFile {
  /// The whole file. Invalid UTF-8 is repaired.
  package static func read(_ path: String) throws(TextFileError) -> String {
    do {
      return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    } catch {
      throw TextFileError("\(path) cannot be read", error)
    }
  }

  /// Writes atomically, so that a reader never sees a partial file.
  package static func write(_ text: String, to path: String) throws(TextFileError) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw TextFileError("\(path) cannot be written", error)
    }
  }
}

package struct TextFileError: Error, CustomStringConvertible {
  /// The path, the operation and the system's message.
  package let description: String

  init(_ summary: String, _ error: any Error) {
    description = "\(summary): \(Self.cause(of: error))"
  }

  /// The system's message inside Foundation's error.
  private static func cause(of error: any Error) -> String {
    let system = (error as? CocoaError)?.userInfo.values.lazy.compactMap { $0 as? POSIXError }.first
    guard let system else { return "\(error)" }
    return String(cString: strerror(system.code.rawValue))
  }
}

/// Announces that a simulator listens.
package enum Readiness {
  /// Prints the addresses as the first line of the output, and writes them to a file that scripts may wait for.
  /// - Parameters:
  ///   - addresses: JSON, on one line.
  ///   - path: the file; nil for none.
  package static func announce(_ addresses: String, writingTo path: String?) throws(TextFileError) {
    print(addresses)
    fflush(nil)
    if let path { try TextFile.write(addresses + "\n", to: path) }
  }
}
