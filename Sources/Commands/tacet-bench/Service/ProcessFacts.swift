import FoundationEssentials
import Glibc

/// What `/proc/PID/status` says of a process. Source: proc(5).
struct ProcessFacts: Sendable, Equatable {
  var parent: pid_t = 0
  var threads = 0
  /// `VmRSS`.
  var residentKilobytes = 0
  /// `VmHWM`, the most it ever was.
  var residentKilobytesMax = 0

  /// - Parameter status: the file's text; what it does not name stays 0, as memory does of a process that has ended.
  init(status: String) {
    for line in status.split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == ":" || $0 == "\t" || $0 == " " })
      guard words.count >= 2, let value = Int(words[1]) else { continue }
      switch words[0] {
      case "PPid": parent = pid_t(value)
      case "Threads": threads = value
      case "VmRSS": residentKilobytes = value
      case "VmHWM": residentKilobytesMax = value
      default: break
      }
    }
  }

  /// - Returns: nil when there is no such process.
  init?(of process: pid_t) {
    guard let text = textOfFile("/proc/\(process)/status") else { return nil }
    self.init(status: text)
  }
}

/// The text of a file, of those in `/proc` too; nil when it cannot be read.
func textOfFile(_ path: String) -> String? {
  (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
}
