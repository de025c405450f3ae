import Glibc
import Reactors

/// The supervisor that started this process: what it wants to be told, and the sockets that it keeps open over restarts.
///
/// By systemd's protocols sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3), whose variables other managers set too.
/// Without them nothing is told and nothing is inherited.
struct Supervisor: Sendable {
  /// The name of a socket for `/metrics`; any other is for the interface.
  private static let metricsName = "metrics"

  /// systemd passes descriptors from here on.
  private static let firstDescriptor: Int32 = 3

  /// Sockets that are taken at most; two have a use.
  private static let socketsMax: Int32 = 16

  private let notifyAddress: [UInt8]?
  private let watchdogLimit: Duration?
  private let sockets: [(name: Substring, descriptor: Int32)]

  /// Reads the variables that concern this process.
  init(environment: [String: String], processID: pid_t = getpid()) {
    notifyAddress = environment["NOTIFY_SOCKET"].flatMap(Self.address)
    let isWatched = environment["WATCHDOG_PID"].map { pid_t($0) == processID } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
    watchdogLimit = isWatched && microseconds > 0 ? .microseconds(microseconds) : nil
    sockets = Self.sockets(environment, processID)
  }

  var interfaceSocket: Int32? { sockets.first { $0.name != Self.metricsName }?.descriptor }

  var metricsSocket: Int32? { sockets.first { $0.name == Self.metricsName }?.descriptor }

  /// The service listens, or follows its new settings.
  func tellReady(_ status: String) { tell("READY=1\nSTATUS=\(status)") }

  func tellReloading() { tell("RELOADING=1\nMONOTONIC_USEC=\(Reactor.now / 1000)\nSTATUS=reading the settings again") }

  func tellStopping() { tell("STOPPING=1\nSTATUS=stopping") }

  /// Reports, at half of the watchdog's limit, that every reactor still runs its jobs. Returns when the task is cancelled.
  func watch(_ reactors: [Reactor]) async {
    guard let watchdogLimit else { return }
    while !Task.isCancelled {
      for reactor in reactors { await reactor.turn() }
      tell("WATCHDOG=1")
      try? await Task.sleep(for: watchdogLimit / 2)
    }
  }

  /// A message that cannot be sent at once is lost: a supervisor that does not read must not hold up the service.
  private func tell(_ message: String) {
    guard let notifyAddress else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var message = message
    message.withUTF8 { text in
      notifyAddress.withUnsafeBytes { address in
        guard let start = address.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
        _ = sendto(descriptor, text.baseAddress, text.count, Int32(MSG_NOSIGNAL), start, socklen_t(address.count))
      }
    }
  }

  /// A path, or a name in the abstract namespace behind an `@`.
  private static func address(_ name: String) -> [UInt8]? {
    var name = Array(name.utf8)
    guard let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
      name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    else { return nil }
    if first == UInt8(ascii: "@") { name[0] = 0 }
    return withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + name
  }

  /// The variables are passed on to children, so the process id tells for whom they are. The descriptors are not passed on.
  private static func sockets(
    _ environment: [String: String], _ processID: pid_t
  ) -> [(name: Substring, descriptor: Int32)] {
    guard environment["LISTEN_PID"].flatMap(pid_t.init) == processID,
      let count = environment["LISTEN_FDS"].flatMap(Int32.init), (1...socketsMax).contains(count)
    else { return [] }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    return (0..<count).map { index in
      _ = fcntl(firstDescriptor + index, F_SETFD, FD_CLOEXEC)
      return (names.indices.contains(Int(index)) ? names[Int(index)] : "", firstDescriptor + index)
    }
  }
}

extension Reactor {
  /// Returns when the reactor has run a job that was given to it now.
  fileprivate nonisolated func turn() async {
    await withCheckedContinuation { continuation in submit { _ in continuation.resume() } }
  }
}
