import Glibc
import PushStore

extension ServiceInstance {
  /// This process.
  static let current = ServiceInstance(
    id: ProcessName.random(), host: hostName, processID: getpid(), version: BuildInformation.version)

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
