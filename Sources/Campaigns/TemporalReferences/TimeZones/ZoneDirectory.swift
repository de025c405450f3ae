internal import Glibc
internal import Synchronization

/// The time zones of this machine by their names: a folder of TZif files, each read at its first use.
///
/// Safe for all threads. A file that changes after its first use, as when the system's `tzdata` is updated, is read again
/// when the process starts again.
package final class ZoneDirectory: Sendable {
  /// The most zones kept. The database has 600 names; beyond this a folder with links to itself could make any number of
  /// them. A full cache starts over: reading a file again takes microseconds.
  static let zonesMax = 1024

  /// The zones of this machine, where every Linux distribution has them.
  package static let system = ZoneDirectory()

  /// The folder as it was named.
  package let path: String

  /// The folder without symbolic links; nil if it does not exist.
  private let folder: String?

  private let zones = Mutex<[String: ZoneRules]>([:])

  /// Resolves the folder. Files are read later.
  /// - Parameter path: where the C library has its zones: the value of `TZDIR` if that is set.
  package init(path: String = "/usr/share/zoneinfo") {
    self.path = path
    folder = Self.resolved(path)
  }

  var count: Int { zones.withLock(\.count) }

  /// The rules of a zone. The first call for a name reads a file, which blocks for some microseconds.
  ///
  /// Only zones that exist are remembered, so that unknown names take no memory.
  /// - Parameter name: such as `Europe/Berlin`. Case-sensitive. It may come from a user: any text is safe.
  /// - Returns: nil for a name that no zone can have, a zone that the folder does not have, and an unusable file. A file is
  ///   unusable if it is not a TZif file, counts leap seconds, or is a link that leads outside the folder.
  package func rules(of name: String) -> ZoneRules? {
    // Before the look-up, which takes the Kelvin sign for a K and hashes texts of any length.
    guard ZoneName.isWellFormed(name) else { return nil }
    if let known = zones.withLock({ $0[name] }) { return known }
    // Read without the lock: other threads need not wait, and two that read the same file find the same.
    guard let file = file(of: name), let rules = try? ZoneRules(file) else { return nil }
    zones.withLock { zones in
      if zones.count >= Self.zonesMax { zones.removeAll() }
      zones[name] = rules
    }
    return rules
  }

  private func file(of name: String) -> [UInt8]? {
    guard let folder, let path = Self.resolved(folder + "/" + name), path.utf8.starts(with: (folder + "/").utf8) else {
      return nil
    }
    // Opening a FIFO would wait for a writer without O_NONBLOCK.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      (1...TZifFile.bytesMax).contains(status.st_size)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: status.st_size)
    // A regular file is read in one piece. A file that changes meanwhile is unusable.
    return read(descriptor, &bytes, bytes.count) == bytes.count ? bytes : nil
  }

  /// A path without symbolic links; nil if it leads nowhere.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
