import Cryptography
import FoundationEssentials
import Glibc
import HTTPTransfers
import HTTPTypes
import Reactors

/// The ready service of one run.
final class RunningService {
  /// The time to become ready. A start takes a fraction of a second.
  private static let readyLimit = Duration.seconds(20)

  let child: ServiceChild
  /// From the start of the process to its first readiness response, in nanoseconds.
  let readyAfter: UInt64

  private init(_ child: ServiceChild, readyAfter: UInt64) {
    self.child = child
    self.readyAfter = readyAfter
  }

  /// Starts the service and checks its readiness every millisecond.
  /// - Parameter settings: the settings for a listen address.
  static func start(
    _ program: String, log: String, settings: (_ listenAddress: String) -> [String: String],
    on reactor: isolated Reactor
  ) async throws -> RunningService {
    let address = try freeAddress()
    let child = try ServiceChild(program, settings: settings(address), log: log)
    let client = HTTPTransferClient(on: reactor)
    defer { client.close(on: reactor) }
    while !(await isReady("http://\(address)/readyz", client, on: reactor)) {
      guard child.isRunning, Reactor.now - child.started < readyLimit.clampedNanoseconds else {
        try? await child.stop(on: reactor)
        throw BenchError("the service did not become ready; see \(log)")
      }
      await reactor.sleep(for: .milliseconds(1))
    }
    return RunningService(child, readyAfter: Reactor.now - child.started)
  }

  /// Current resident memory and threads.
  var memoryFigures: [String: Double] {
    guard let facts = ProcessFacts(of: child.id) else { return [:] }
    return [
      "rss_mb": Double(facts.residentKilobytes) / 1024, "rss_peak_mb": Double(facts.residentKilobytesMax) / 1024,
      "threads": Double(facts.threads),
    ]
  }

  private static func isReady(_ url: String, _ client: HTTPTransferClient, on reactor: isolated Reactor) async -> Bool {
    let request = HTTPTransferRequest(url: url, deadline: .seconds(1))
    guard let answer = try? await client.send(request, on: reactor) else { return false }
    return answer.status.code == 200
  }

  /// A free port of the loopback address.
  private static func freeAddress() throws -> String {
    guard let any = SocketAddress(numericHost: "127.0.0.1", port: 0) else { preconditionFailure("a numeric host") }
    return try ListeningSocket(on: any).address.description
  }
}

/// The service's settings apart from the database: secrets of this run, and the sink.
struct ServiceCredentials: Sendable {
  private let webhookSecret = Self.secret()
  private let serviceKey = Self.secret()
  private let jwtSecret = Self.secret()
  private let privateKey = P256PrivateKey().pem
  private let sinkURL: String
  private let authorityFile: String

  /// - Parameter authorityFile: the PEM file of the sink's authority.
  init(sinkURL: String, authorityFile: String) {
    self.sinkURL = sinkURL
    self.authorityFile = authorityFile
  }

  /// The service's environment: the default settings, with folding unless it is off.
  func settings(database: String, listenAddress: String, folds: Bool) -> [String: String] {
    let settings = [
      "DATABASE_URL": database, "LISTEN_ADDRESS": listenAddress, "WEBHOOK_SECRET": webhookSecret,
      "SERVICE_KEY": serviceKey, "JWT_SECRET": jwtSecret, "APNS_KEY_ID": "BENCHKEY01", "APNS_TEAM_ID": "BENCHTEAM1",
      "APNS_BUNDLE_ID": "com.example.app", "APNS_PRIVATE_KEY": privateKey, "APNS_URL": sinkURL,
      "APNS_CA_FILE": authorityFile, "LOG_LEVEL": "warning",
    ]
    return folds ? settings : settings.merging(["FOLD_WINDOW_SECONDS": "0"]) { $1 }
  }

  /// 48 hexadecimal digits.
  private static func secret() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<48).map { _ in digits[Int.random(in: digits.indices)] })
  }
}

/// A running `tacet serve`. It ends with the thread that starts it, a reactor's: else a killed measurement would leave a service
/// that works on the next one's database.
final class ServiceChild {
  /// The time to end after SIGTERM. The service itself drains for at most half a minute.
  private static let stopLimit = Duration.seconds(35)

  let id: pid_t
  /// When it was started, in monotonic nanoseconds.
  let started: UInt64
  private var exitStatus: Int32?

  /// - Parameters:
  ///   - settings: its whole environment except `PATH`.
  ///   - log: the file for its output.
  init(_ program: String, settings: [String: String], log: String) throws(SystemError) {
    started = Reactor.now
    id = try Self.spawn(
      ["/usr/bin/setpriv", "--pdeathsig", "KILL", program, "serve"],
      environment: settings.map { "\($0.key)=\($0.value)" } + ["PATH=/usr/bin:/bin"], log: log)
  }

  var isRunning: Bool {
    if exitStatus != nil { return false }
    var status: Int32 = 0
    guard waitpid(id, &status, WNOHANG) == id else { return true }
    exitStatus = status
    return false
  }

  /// Sends SIGTERM, waits, and kills the process after the limit.
  /// - Throws: when it was killed, or ended with a failure.
  func stop(on reactor: isolated Reactor) async throws(BenchError) {
    if isRunning { kill(id, SIGTERM) }
    if !(await hasEnded(within: Self.stopLimit, on: reactor)) {
      kill(id, SIGKILL)
      _ = await hasEnded(within: Self.stopLimit, on: reactor)
      throw BenchError("the service did not end after SIGTERM, and was killed")
    }
    guard exitStatus == 0 else { throw BenchError("the service ended with the wait status \(exitStatus ?? -1)") }
  }

  /// Ends it as a crash would.
  func crash() { if isRunning { kill(id, SIGKILL) } }

  private func hasEnded(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let deadline = Reactor.now + limit.clampedNanoseconds
    while isRunning {
      guard Reactor.now < deadline else { return false }
      await reactor.sleep(for: .milliseconds(5))
    }
    return true
  }

  /// Starts a program with no input and its output appended to a file. All signals are unblocked, because this process's
  /// threads may block nearly all of them.
  private static func spawn(
    _ command: [String], environment: [String], log: String
  ) throws(SystemError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var id: pid_t = 0
    let code = posix_spawn(&id, command[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { throw SystemError(operation: "start of \(command[0])", code: code) }
    return id
  }
}

/// The processor time of the service and the database server up to a moment, in nanoseconds.
struct ServiceUsage: Sendable, Equatable {
  let service: UInt64
  /// Nil when the server's processes are not accessible.
  let cluster: ClusterUsage?

  init(of service: pid_t, postmaster: pid_t?) {
    self.service = ProcessorTime.nanoseconds(of: service) ?? 0
    cluster = postmaster.flatMap { ClusterUsage(of: $0) }
  }

  /// The processor time of a message since an earlier moment.
  func figures(since earlier: ServiceUsage, messages: Int) -> [String: Double] {
    guard messages > 0 else { return [:] }
    let service = Double(service - min(service, earlier.service)) / 1e3 / Double(messages)
    guard let cluster, let before = earlier.cluster else { return ["cpu_us_per_message": service] }
    let database = Double(cluster.since(before)) / 1e3 / Double(messages)
    return [
      "cpu_us_per_message": service, "database_cpu_us_per_message": database,
      "total_cpu_us_per_message": service + database,
    ]
  }
}

/// The processor time of a database server's processes up to a moment.
struct ClusterUsage: Sendable, Equatable {
  /// By process, in nanoseconds, including the postmaster.
  private let running: [pid_t: UInt64]
  /// Of ended processes, in nanoseconds.
  private let ended: UInt64

  init(running: [pid_t: UInt64], ended: UInt64) {
    self.running = running
    self.ended = ended
  }

  /// Nil when the processes are not accessible, such as those of a server on another machine.
  init?(of postmaster: pid_t) {
    guard let stat = textOfFile("/proc/\(postmaster)/stat"),
      let children = textOfFile("/proc/\(postmaster)/task/\(postmaster)/children"),
      let ended = ProcessorTime.ofEndedChildren(stat: stat, ticksPerSecond: Int(sysconf(Int32(_SC_CLK_TCK))))
    else { return nil }
    let processes = children.split(separator: " ").compactMap { pid_t($0) } + [postmaster]
    let times = processes.compactMap { process in ProcessorTime.nanoseconds(of: process).map { (process, $0) } }
    self.init(running: Dictionary(times) { first, _ in first }, ended: ended)
  }

  /// The processor time since an earlier moment, in nanoseconds. The earlier time of a process that has ended since is
  /// subtracted.
  func since(_ earlier: ClusterUsage) -> UInt64 {
    let gone = earlier.running.filter { running[$0.key] == nil }.values.reduce(0, +)
    let grown = running.reduce(0 as UInt64) { sum, process in
      sum + process.value - min(process.value, earlier.running[process.key] ?? 0)
    }
    let ended = ended - min(ended, earlier.ended)
    return grown + ended - min(ended, gone)
  }

  /// The postmaster of a session, the parent of its backend; nil when the backend is on another machine.
  static func postmaster(ofBackend backend: pid_t) -> pid_t? {
    guard let facts = ProcessFacts(of: backend), isPostgres(backend), isPostgres(facts.parent) else { return nil }
    return facts.parent
  }

  private static func isPostgres(_ process: pid_t) -> Bool {
    textOfFile("/proc/\(process)/comm").map { $0.hasPrefix("postgres") } ?? false
  }
}

/// Processor time of processes, in user space and in the kernel.
enum ProcessorTime {
  /// The time of all threads of a process, including ended ones, in nanoseconds; nil without such a process.
  ///
  /// It comes from the process's clock, because `utime` and `stime` in `/proc` have hundredths of a second.
  static func nanoseconds(of process: pid_t) -> UInt64? {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The time of a process's ended children, in nanoseconds, from the text of `/proc/PID/stat`: `cutime` and `cstime`,
  /// its 16th and 17th field. The second field is a name in parentheses with any characters.
  /// - Parameter ticksPerSecond: `sysconf(_SC_CLK_TCK)`.
  static func ofEndedChildren(stat: String, ticksPerSecond: Int) -> UInt64? {
    guard let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: name)...].split(separator: " ")
    guard fields.count > 14, let user = UInt64(fields[13]), let system = UInt64(fields[14]) else { return nil }
    return (user + system) * 1_000_000_000 / UInt64(ticksPerSecond)
  }
}

/// Facts from `/proc/PID/status`. Source: proc(5).
struct ProcessFacts: Sendable, Equatable {
  var parent: pid_t = 0
  var threads = 0
  /// `VmRSS`.
  var residentKilobytes = 0
  /// `VmHWM`, the peak.
  var residentKilobytesMax = 0

  /// - Parameter status: the file's text. Missing values stay 0, such as the memory of an ended process.
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

  init?(of process: pid_t) {
    guard let text = textOfFile("/proc/\(process)/status") else { return nil }
    self.init(status: text)
  }
}

/// The text of a file, also in `/proc`; nil when it cannot be read.
func textOfFile(_ path: String) -> String? {
  (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
}
