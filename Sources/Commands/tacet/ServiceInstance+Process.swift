import Glibc
import PushStore

extension ServiceInstance {
  static let current = ServiceInstance(
    id: ProcessName.random(), host: hostName, processID: getpid(), version: BuildInformation.version)

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// What one run of the service is called, in its log and wherever it says what it did.
enum ProcessName {
  /// Eight hexadecimal digits, drawn anew at each start: a process that comes back after a crash is another one, which a
  /// host name or process number would not show. With a hundred processes two share one once in a million times.
  static func random() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

enum BuildInformation {
  /// The version of the service and of its interface, as `openapi.yaml` has it.
  static let version = "0.1.0"
}
