internal import Foundation

/// Keeps the device's local notifications as the service's schedule says, so that they show without a network.
///
/// Each run reads the schedule, removes what is gone or has changed, arms the soonest 64, and reports each as `armed`; the
/// service then does not push it. Without a network the last schedule counts for a day. Later nothing changes, and what is
/// armed still shows. Requests of the app's other parts stay.
///
/// Register the device before the first run, so that the service knows its zone and its permission. One keeper per store.
public actor ScheduleKeeper {
  /// The shortest time from one run to the next that a trigger starts.
  static let pause = 30.0
  private static let name = "schedule"

  private let client: PushServiceClient
  private let scheduler: any LocalScheduler
  private let queue: TelemetryQueue
  private let store: any ClientStore
  private let lifetime: Duration
  private let clock: DeviceClock
  private var window: ScheduleWindow
  private(set) var isClearing = false
  private var startedAt: Date?
  private var waiting: Task<Void, Never>?
  private var running: Task<Result<Void, PushServiceError>, Never>?

  /// Reads what was kept. Nothing is asked or armed yet.
  /// - Parameters:
  ///   - queue: takes the reports, and knows the device token.
  ///   - lifetime: how long a schedule counts after the service has last confirmed it; the flag `ttlSeconds`.
  public init(
    _ client: PushServiceClient, scheduler: any LocalScheduler, queue: TelemetryQueue,
    store: any ClientStore = FileStore(), lifetime: Duration = .seconds(86_400)
  ) {
    self.init(client, scheduler: scheduler, queue: queue, store: store, lifetime: lifetime, clock: DeviceClock())
  }

  init(
    _ client: PushServiceClient, scheduler: any LocalScheduler, queue: TelemetryQueue, store: any ClientStore,
    lifetime: Duration = .seconds(86_400), clock: DeviceClock
  ) {
    self.client = client
    self.scheduler = scheduler
    self.queue = queue
    self.store = store
    self.lifetime = lifetime
    self.clock = clock
    let kept = store.load(Self.name).flatMap { try? JSONDecoder().decode(ScheduleWindow.self, from: $0) }
    window = kept ?? ScheduleWindow()
  }

  deinit { waiting?.cancel() }

  /// Runs now, or joins the run that goes on. Call it when the app starts, and after the user has allowed notifications.
  /// - Throws: what the service refuses. An unreachable service is no error.
  public func keep() async throws(PushServiceError) {
    waiting?.cancel()
    waiting = nil
    try await runOnce().get()
  }

  /// Runs now, or within 30 seconds if a run was started less than 30 seconds ago. Call it when the app comes to the
  /// foreground, for a push whose content ``PushContent/announcesSchedule``, and when the device's time zone or its offset
  /// has changed; for another zone, register the device before it.
  ///
  /// It returns after the run, or at once if the run has to wait. A failure is dropped, because another trigger follows.
  public func trigger() async {
    let elapsed = startedAt.map { clock.now().timeIntervalSince($0) } ?? Self.pause
    // A clock that was set back says nothing about the last run.
    guard (0..<Self.pause).contains(elapsed) else {
      try? await keep()
      return
    }
    guard waiting == nil else { return }
    waiting = Task { [clock, weak self] in
      do { try await clock.sleep(.seconds(Self.pause - elapsed)) } catch { return }
      await self?.endWait()
    }
  }

  /// Cancels what this library has armed, and forgets the schedule and the reports that wait. Call it when the user logs
  /// out, before ``PushServiceClient/removeDevice(token:)``.
  public func clear() async {
    isClearing = true
    defer { isClearing = false }
    waiting?.cancel()
    waiting = nil
    running?.cancel()
    _ = await running?.value
    await cancelAll()
    window = ScheduleWindow()
    startedAt = nil
    try? store.save(nil, as: Self.name)
    await queue.clear()
  }

  /// Whether a run waits for its time.
  var isWaiting: Bool { waiting != nil }

  /// Returns after the run that waits and the one that goes on.
  func settle() async {
    await waiting?.value
    _ = await running?.value
  }

  private func endWait() async {
    // Cancelled between the end of the sleep and here.
    if Task.isCancelled { return }
    waiting = nil
    _ = await runOnce()
  }

  private func runOnce() async -> Result<Void, PushServiceError> {
    // A run would arm what the log-out has just cancelled.
    if isClearing { return .success(()) }
    let run = running ?? Task { await self.run() }
    running = run
    return await run.value
  }

  private func run() async -> Result<Void, PushServiceError> {
    defer { running = nil }
    startedAt = clock.now()
    switch await scheduler.authorization() {
    case .notDetermined: return .success(())
    case .denied:
      await deny()
      await queue.flush()
      return .success(())
    case .authorized, .provisional: return await synchronize()
    }
  }

  private func synchronize() async -> Result<Void, PushServiceError> {
    let failure = await read()
    let isOffline = failure?.isTemporary == true
    if Task.isCancelled { return .success(()) }
    if failure == nil || isOffline && window.isFresh(at: clock.now(), lifetime: lifetime) { await arm() }
    if failure == nil, !Task.isCancelled { await queue.flush() }
    guard let failure, !isOffline else { return .success(()) }
    return .failure(failure)
  }

  private func read() async -> PushServiceError? {
    do throws(PushServiceError) {
      let found = try await client.schedule(deviceToken: await queue.deviceToken(), unless: window.schedule)
      window.note(found, at: clock.now())
      return nil
    } catch { return error }
  }

  private func arm() async {
    let plan = window.plan(pending: await scheduler.pending(), at: clock.now(), in: clock.zone())
    var events = plan.gone.map { event(.cancelled, of: $0, due: window.armed[$0]?.date) }
    // Forgotten first: what a dying process leaves half done is armed again by the next run.
    window.armed = window.armed.filter { plan.kept.contains($0.key) }
    save()
    if !plan.cancelled.isEmpty { await scheduler.cancel(plan.cancelled) }
    var armed: [String: ArmedNotification] = [:]
    for notification in plan.arm where !Task.isCancelled {
      do throws(ArmingError) {
        try await scheduler.arm(notification)
        armed[notification.identifier] = notification.armed
        events.append(event(.armed, of: notification.identifier, due: notification.date))
      } catch {
        if error == .denied { return await deny() }
      }
    }
    window.isDenied = false
    await queue.add(events)
    window.armed.merge(armed) { $1 }
    save()
  }

  private func deny() async {
    await cancelAll()
    window.armed = [:]
    if !window.isDenied { await queue.add([event(.scheduleDenied, of: nil, due: nil)]) }
    window.isDenied = true
    save()
  }

  private func cancelAll() async {
    let own = ScheduleWindow.own(await scheduler.pending())
    if !own.isEmpty { await scheduler.cancel(own) }
  }

  private func event(_ code: SlotEvent.Code, of identifier: String?, due: Date?) -> SlotEvent {
    let now = clock.now()
    // The service wants a slot in each event; one of the device itself has none.
    let slot = identifier.flatMap(SlotIdentifier.init)?.slot ?? "0000"
    var event = SlotEvent(code, slot: slot, identifier: identifier, due: due ?? now)
    event.date = now
    event.zoneOffset = clock.zone().secondsFromGMT(for: now) / 60
    return event
  }

  /// A store that fails costs one more arming after the next start, and nothing else.
  private func save() { try? store.save(JSONEncoder().content(window), as: Self.name) }
}

/// The time on the device, replaceable by tests.
struct DeviceClock: Sendable {
  var now: @Sendable () -> Date = { Date() }
  var zone: @Sendable () -> TimeZone = { .autoupdatingCurrent }
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}

/// What a device knows of its schedule, kept over restarts. It decides; ``ScheduleKeeper`` acts.
struct ScheduleWindow: Sendable, Codable {
  /// The most requests that the system keeps of an app.
  static let pendingMax = 64

  /// The last schedule; nil before the first.
  private(set) var schedule: SlotSchedule?
  /// When the service last confirmed it.
  private var readAt = Date.distantPast
  /// What the system holds, by its identifier.
  var armed: [String: ArmedNotification] = [:]
  /// Whether the missing permission has been reported.
  var isDenied = false

  /// The service's answer; nil confirms the last one.
  mutating func note(_ found: SlotSchedule?, at now: Date) {
    if let found { schedule = found }
    readAt = now
  }

  /// Whether the last schedule still counts. One of the future comes from a clock that was set back, and counts as read now.
  mutating func isFresh(at now: Date, lifetime: Duration) -> Bool {
    readAt = min(readAt, now)
    return schedule != nil && now.timeIntervalSince(readAt) <= Double(lifetime.components.seconds)
  }

  /// What to cancel and what to arm. What was due already is left to the system, which may be late.
  /// - Parameter pending: what the system holds.
  func plan(pending: [String], at now: Date, in zone: TimeZone) -> ArmingPlan {
    let own = Self.own(pending)
    let wanted = soonest(Self.pendingMax - (pending.count - own.count), at: now, in: zone)
    let names = Set(wanted.map(\.identifier))
    let late = own.filter { !names.contains($0) && (armed[$0]?.date ?? .distantFuture) <= now }
    let held = Set(own)
    let unchanged = wanted.filter { held.contains($0.identifier) && armed[$0.identifier] == $0.armed }
    let kept = Set(unchanged.map(\.identifier) + late)
    let cancelled = own.filter { !kept.contains($0) }
    return ArmingPlan(
      kept: kept, cancelled: cancelled, gone: cancelled.filter { !names.contains($0) },
      arm: wanted.filter { !kept.contains($0.identifier) })
  }

  private func soonest(_ room: Int, at now: Date, in zone: TimeZone) -> [LocalNotification] {
    var names: Set<String> = []
    let coming = (schedule?.rows ?? []).filter { names.insert($0.identifier).inserted }
      .compactMap { LocalNotification($0, in: zone) }.filter { $0.date > now }
    return Array(coming.sorted { ($0.date, $0.identifier) < ($1.date, $1.identifier) }.prefix(max(room, 0)))
  }

  /// The requests that this library has made, by the form of their identifiers. It also finds those of an earlier
  /// installation. Each once.
  static func own(_ pending: [String]) -> [String] { pending.filter { SlotIdentifier($0) != nil } }
}

/// What one run does with the system's requests.
struct ArmingPlan: Sendable {
  /// What stays as it is.
  let kept: Set<String>
  /// To cancel: what is gone and what has changed.
  let cancelled: [String]
  /// Of them those that are gone, to be reported.
  let gone: [String]
  /// To arm, the soonest first.
  let arm: [LocalNotification]
}

/// The name of a slot's row: `<campaign>.<slot>.<fire_date>`, such as `ritual.0800.2026-11-22`.
///
/// The service refuses a whole report that names a row in another form.
struct SlotIdentifier: Hashable, Sendable {
  /// The time of the user's day, such as `0800`.
  let slot: String

  /// Nil for a text of another form.
  init?(_ text: String) {
    guard text.utf8.count <= 128 else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, Self.isCampaign(parts[0]), Self.isSlot(parts[1]), Self.isDay(parts[2]) else { return nil }
    slot = String(parts[1])
  }

  /// A small letter, then up to 62 small letters, digits and underscores.
  private static func isCampaign(_ text: Substring) -> Bool {
    guard (1...63).contains(text.utf8.count), let first = text.utf8.first, isSmallLetter(first) else { return false }
    return text.utf8.allSatisfy { isSmallLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
  }

  /// Hours and minutes, from 0000 to 2359.
  static func isSlot(_ text: some StringProtocol) -> Bool {
    guard text.utf8.count == 4, text.utf8.allSatisfy(isDigit), let number = Int(text) else { return false }
    return number / 100 < 24 && number % 100 < 60
  }

  /// `2026-11-22`, in this millennium.
  private static func isDay(_ text: Substring) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 10 && bytes[0] == UInt8(ascii: "2")
      && bytes.indices.allSatisfy { [4, 7].contains($0) ? bytes[$0] == UInt8(ascii: "-") : isDigit(bytes[$0]) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  private static func isSmallLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
