import Glibc
import PushStore

extension ServiceInstance {
  /// This process, under an id of its own.
  static let current = ServiceInstance(
    id: String(UInt32.random(in: .min ... .max), radix: 16, padding: 8), host: hostName, processID: getpid(),
    version: Tacet.version)

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension String {
  fileprivate init(_ number: UInt32, radix: Int, padding width: Int) {
    let digits = String(number, radix: radix)
    self = String(repeating: "0", count: width - digits.count) + digits
  }
}
