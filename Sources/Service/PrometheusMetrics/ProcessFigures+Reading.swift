internal import Glibc

extension ProcessFigures {
  /// This process as it is now. Reads four small files that the kernel makes in memory; nothing of it waits for a disk.
  public static func current() -> ProcessFigures {
    var figures = ProcessFigures(
      stat: text(of: "/proc/self/stat"), limits: text(of: "/proc/self/limits"), systemStat: text(of: "/proc/stat"),
      ticksPerSecond: sysconf(Int32(_SC_CLK_TCK)), pageBytes: sysconf(Int32(_SC_PAGESIZE)))
    figures.descriptors = entries(of: "/proc/self/fd")
    return figures
  }

  /// A file to its end; empty if it cannot be read.
  private static func text(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// Without the descriptor that looks.
  private static func entries(of path: String) -> Int64? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var count: Int64 = -1
    while let entry = readdir(folder) {
      // The folder itself and the one above begin with a dot; no descriptor does.
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
  }
}
