internal import Glibc

/// How a simulator's command says that it listens, and where.
package enum Readiness {
  /// Prints the addresses as the first line of the output, and writes them into a file, for those who wait for one.
  /// - Parameters:
  ///   - addresses: JSON, on one line.
  ///   - path: the file; nil for none.
  package static func announce(_ addresses: String, writingTo path: String?) throws(TextFileError) {
    print(addresses)
    fflush(nil)
    if let path { try TextFile.write(addresses + "\n", to: path) }
  }
}
