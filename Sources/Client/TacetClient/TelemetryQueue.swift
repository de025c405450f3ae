public import Foundation

/// Reports that wait until the service has them: what the device did, what the user did with notifications.
///
/// A report is stored before ``add(_:)`` returns, and removed when the service has answered. If the process dies between
/// the two, the report is sent again with the same id, and the service counts it once. Call ``flush()`` when the app
/// starts, comes to the foreground, and when the network is back.
///
/// One queue per store: two would overwrite each other.
public actor TelemetryQueue {
  /// What waits.
  public enum Report: Hashable, Sendable {
    /// Something that the device did, or could not do.
    case event(SlotEvent)
    /// A button of a slot's notification.
    case action(SlotAction)
    /// A push that opened the app, by its `push_log_id`.
    case opened(UUID)
  }

  /// This device's token; nil while the app has none.
  public typealias DeviceTokenProvider = @Sendable () async -> Data?

  /// The most reports that wait; the oldest give way. Two weeks of a busy device.
  static let reportsMax = 1000
  /// The most events of one request, as the service takes them.
  static let batchMax = 100
  /// The largest content of one request, in bytes.
  static let batchBytesMax = 65_536
  private static let name = "telemetry"

  private let client: PushServiceClient
  private let store: any ClientStore
  let deviceToken: DeviceTokenProvider
  private var reports: [Report]
  private var flushing: Task<Void, Never>?

  /// Reads what waits. What is no report is dropped.
  /// - Parameter deviceToken: is added to events when they are sent. The store holds no token.
  public init(
    _ client: PushServiceClient, store: any ClientStore = FileStore(),
    deviceToken: @escaping DeviceTokenProvider = { nil }
  ) {
    self.client = client
    self.store = store
    self.deviceToken = deviceToken
    let kept = store.load(Self.name).flatMap { try? JSONDecoder().decode([KeptReport].self, from: $0) } ?? []
    reports = Array(kept.compactMap(\.report).suffix(Self.reportsMax))
  }

  /// The number of reports that wait.
  public var count: Int { reports.count }

  /// Stores reports. One whose id waits already is ignored. Nothing is sent.
  public func add(_ added: [Report]) {
    guard !added.isEmpty else { return }
    var known = Set(reports.map(\.id))
    reports += added.map(\.withoutToken).filter { known.insert($0.id).inserted }
    reports.removeFirst(max(reports.count - Self.reportsMax, 0))
    save()
  }

  /// Stores events. Nothing is sent.
  public func add(_ events: [SlotEvent]) { add(events.map(Report.event)) }

  /// Sends what waits: actions and opened pushes one by one, then events in batches, the oldest first. Returns when all is
  /// sent or a request has failed.
  ///
  /// A refused request is dropped, because it would be refused again. Without a network, a valid token or a service that
  /// takes events, reports wait. Several calls at once are one.
  public func flush() async {
    let flush = flushing ?? Task { await send() }
    flushing = flush
    await flush.value
  }

  /// Forgets what waits. Call it when the user logs out, so that the next user does not report it.
  public func clear() async {
    reports = []
    save()
    flushing?.cancel()
    await flushing?.value
  }

  private func send() async {
    defer { flushing = nil }
    do throws(PushServiceError) {
      while !reports.isEmpty, !Task.isCancelled {
        if let report = reports.first(where: { !$0.isEvent }) { try await send(report) } else { try await sendBatch() }
      }
    } catch {
      // The reports wait for the next call.
    }
  }

  private func send(_ report: Report) async throws(PushServiceError) {
    do throws(PushServiceError) {
      switch report {
      case .action(let action): try await client.report(action)
      case .opened(let id): try await client.opened(id)
      case .event: return
      }
    } catch {
      if error.isTemporary || error.code == .unauthorized { throw error }
    }
    remove([report])
  }

  private func sendBatch() async throws(PushServiceError) {
    let token = await deviceToken()
    let waiting = reports.lazy.filter(\.isEvent).prefix(Self.batchMax)
    let events = Self.fitting(waiting.compactMap { $0.event(from: token) })
    let batch = Array(waiting.prefix(events.count))
    // Cleared while the token was asked for.
    guard !batch.isEmpty else { return }
    do throws(PushServiceError) { try await client.report(events) } catch {
      // An answer that cannot be read counts as a refusal too: the service has noted the events.
      if error.code != .refused { throw error }
    }
    remove(batch)
  }

  /// The first of the events, as many as fit into a request, and at least one: the service refuses one that is too large.
  private static func fitting(_ events: [SlotEvent]) -> [SlotEvent] {
    // The braces and the name around them, and a comma each.
    var bytesLeft = batchBytesMax - 32
    let fitting = events.prefix { event in
      bytesLeft -= JSONEncoder().content(event).count + 1
      return bytesLeft >= 0
    }
    return Array(events.prefix(max(fitting.count, 1)))
  }

  private func remove(_ sent: [Report]) {
    let ids = Set(sent.map(\.id))
    reports.removeAll { ids.contains($0.id) }
    save()
  }

  /// A store that fails costs the reports when the process ends, and nothing else.
  private func save() {
    let document = reports.isEmpty ? nil : JSONEncoder().content(reports.map(KeptReport.init))
    try? store.save(document, as: Self.name)
  }
}

extension TelemetryQueue.Report {
  fileprivate var id: UUID {
    switch self {
    case .event(let event): event.id
    case .action(let action): action.id
    case .opened(let id): id
    }
  }

  fileprivate var isEvent: Bool { if case .event = self { true } else { false } }

  /// The event, from this device.
  fileprivate func event(from deviceToken: Data?) -> SlotEvent? {
    guard case .event(var event) = self else { return nil }
    event.deviceToken = deviceToken
    return event
  }

  fileprivate var withoutToken: Self { event(from: nil).map(Self.event) ?? self }
}

/// A report in the store, or something else.
private struct KeptReport: Codable {
  let report: TelemetryQueue.Report?

  private enum CodingKeys: String, CodingKey { case event, action, opened }

  init(_ report: TelemetryQueue.Report) { self.report = report }

  init(from decoder: any Decoder) throws {
    let body = try? decoder.container(keyedBy: CodingKeys.self)
    let event = try? body?.decode(SlotEvent.self, forKey: .event)
    let action = try? body?.decode(SlotAction.self, forKey: .action)
    let id = try? body?.decode(UUID.self, forKey: .opened)
    report = event.map { .event($0) } ?? action.map { .action($0) } ?? id.map { .opened($0) }
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    switch report {
    case .event(let event): try body.encode(event, forKey: .event)
    case .action(let action): try body.encode(action, forKey: .action)
    case .opened(let id): try body.encode(id.uuidString.lowercased(), forKey: .opened)
    case nil: break
    }
  }
}

/// Keeps the library's documents over restarts of the app. ``FileStore`` conforms; tests and apps with a database
/// replace it.
///
/// The library stores no token of the user.
public protocol ClientStore: Sendable {
  /// The document under a name; nil without one, or when it cannot be read.
  func load(_ name: String) -> Data?

  /// Replaces the document under a name, wholly or not at all. Nil removes it.
  /// - Throws: when it could not be stored; the old document is still there.
  func save(_ document: Data?, as name: String) throws
}

/// Documents as files of one folder, each replaced atomically.
public struct FileStore: ClientStore {
  /// The largest file that is read, in bytes. The library writes at most twice the largest response, which has 1 MiB.
  static let bytesMax = 4 << 20

  private let folder: URL

  /// - Parameter folder: of the library and this process alone; made when it is needed. An app extension needs another.
  public init(folder: URL = Self.ownFolder) {
    self.folder = folder
  }

  /// `Tacet` among the app's supporting files.
  public static var ownFolder: URL {
    let files = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
    return (files ?? FileManager.default.temporaryDirectory).appendingPathComponent("Tacet", isDirectory: true)
  }

  /// Reads a file of at most 4 MiB.
  public func load(_ name: String) -> Data? {
    guard let file = try? FileHandle(forReadingFrom: url(of: name)) else { return nil }
    defer { try? file.close() }
    guard let content = try? file.read(upToCount: Self.bytesMax + 1), content.count <= Self.bytesMax else { return nil }
    return content
  }

  /// Writes a new file and renames it.
  public func save(_ document: Data?, as name: String) throws {
    guard let document else {
      try? FileManager.default.removeItem(at: url(of: name))
      return
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try document.write(to: url(of: name), options: .atomic)
  }

  private func url(of name: String) -> URL { folder.appendingPathComponent(name + ".json") }
}
