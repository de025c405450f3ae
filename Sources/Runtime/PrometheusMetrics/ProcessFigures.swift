internal import Glibc

/// What Linux says of this process, under the names that all clients of Prometheus use. Pure: texts come in.
package struct ProcessFigures: Equatable, Sendable {
  package var residentBytes: Int64?
  package var virtualBytes: Int64?
  /// Processor time in user and kernel mode, in seconds.
  package var cpuSeconds: Double?
  /// When the process began, in seconds since 1970.
  package var startSeconds: Double?
  package var threads: Int64?
  /// Descriptors that may be open at once; nil for any number.
  package var descriptorsMax: Int64?
  package var descriptors: Int64?

  package init() {}

  /// Reads the kernel's texts; what cannot be read in one stays nil.
  /// - Parameters:
  ///   - stat: `/proc/self/stat`. limits: `/proc/self/limits`. systemStat: `/proc/stat`, for the moment of the boot.
  ///   - ticksPerSecond: the kernel's unit of time, mostly 100. pageBytes: of memory, mostly 4096.
  package init(stat: String, limits: String, systemStat: String, ticksPerSecond: Int, pageBytes: Int) {
    take(stat, ticksPerSecond: Double(ticksPerSecond), pageBytes: Int64(pageBytes))
    let boot = Self.value(of: "btime", in: systemStat).flatMap { Double($0) }
    startSeconds = boot.flatMap { boot in startSeconds.map { boot + $0 } }
    descriptorsMax = Self.value(of: "Max open files", in: limits).flatMap { Int64($0) }
  }

  /// The second field is the program's name in parentheses and may hold anything, so fields are counted from the last
  /// parenthesis; what follows it is field 3. Source: proc(5).
  private mutating func take(_ stat: String, ticksPerSecond: Double, pageBytes: Int64) {
    guard let end = stat.lastIndex(of: ")") else { return }
    let fields = stat[stat.index(after: end)...].split { $0 == " " || $0 == "\n" }
    func field(_ number: Int) -> Int64? { number - 3 < fields.count ? Int64(fields[number - 3]) : nil }
    if let user = field(14), let kernel = field(15) { cpuSeconds = Double(user + kernel) / ticksPerSecond }
    threads = field(20)
    startSeconds = field(22).map { Double($0) / ticksPerSecond }
    virtualBytes = field(23)
    residentBytes = field(24).map { $0 * pageBytes }
  }

  /// The first word after a name at the beginning of a line.
  private static func value(of name: String, in text: String) -> Substring? {
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line?.dropFirst(name.count).split(separator: " ").first
  }

  /// As families; an unknown figure is left out.
  package var families: [MetricFamily] {
    let all: [(name: String, help: String, kind: MetricFamily.Kind, value: MetricFamily.Value?)] = [
      (
        "process_resident_memory_bytes", "Memory of the process that is not swapped out.", .gauge,
        residentBytes.map { .integer($0) }
      ),
      ("process_virtual_memory_bytes", "Address space of the process.", .gauge, virtualBytes.map { .integer($0) }),
      (
        "process_cpu_seconds_total", "Processor time of the process, user and kernel.", .counter,
        cpuSeconds.map { .number($0) }
      ),
      (
        "process_start_time_seconds", "When the process began, in seconds since 1970.", .gauge,
        startSeconds.map { .number($0) }
      ),
      ("process_threads", "Threads of the process.", .gauge, threads.map { .integer($0) }),
      ("process_open_fds", "Descriptors that are open.", .gauge, descriptors.map { .integer($0) }),
      ("process_max_fds", "Descriptors that may be open at once.", .gauge, descriptorsMax.map { .integer($0) }),
    ]
    return all.compactMap { row in row.value.map { MetricFamily(row.name, row.help, row.kind, $0) } }
  }
}

extension ProcessFigures {
  /// This process as it is now. Reads four small files that the kernel makes in memory; nothing of it waits for a disk.
  package static func current() -> ProcessFigures {
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
