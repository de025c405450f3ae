internal import Glibc

/// A small file of this machine: settings, keys and certificates.
package enum LocalFile {
  /// The most bytes read. A settings file has a few kilobytes, the certificates of a whole system about 250.
  package static let bytesMax = 1 << 20

  package struct ReadError: Error, Equatable, Sendable {
    /// The system's words, to be read after "cannot be read:".
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  /// All bytes of a file. Blocks; meant for the start of a process.
  ///
  /// - Throws: when it cannot be opened or read, or is larger than ``bytesMax``.
  package static func read(path: String) throws(ReadError) -> [UInt8] {
    guard let file = fopen(path, "re") else { throw ReadError(reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw ReadError(reason: String(cString: strerror(errno))) }
    guard count <= bytesMax else { throw ReadError(reason: "larger than \(bytesMax) bytes") }
    return Array(bytes[..<count])
  }
}
