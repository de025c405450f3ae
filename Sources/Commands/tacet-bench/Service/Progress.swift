import BenchReports
import FoundationEssentials
import Glibc

/// What is said while it goes on, and what comes out.
enum Progress {
  /// A line on standard error.
  static func say(_ line: String) {
    let text = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, text, text.count)
  }

  /// A line of JSON on standard output, at once: whoever reads along may be stopped before the end.
  static func print(_ run: BenchRun) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    Swift.print(String(decoding: try encoder.encode(run), as: UTF8.self))
    fflush(nil)
  }
}
