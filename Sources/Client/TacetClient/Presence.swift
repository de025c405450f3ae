public import Foundation

extension PushServiceClient {
  /// Reports that the user is looking at a surface while the calling task runs, and then that they have left.
  ///
  /// It fits the life of a view. In SwiftUI
  ///
  ///     .task(id: scenePhase) {
  ///       guard scenePhase == .active else { return }
  ///       try? await client.stayPresent(at: .conversation(id))
  ///     }
  ///
  /// starts when the view appears or the app becomes active, and leaves when either ends. A failed report is not
  /// repeated, because the next one follows. Several callers may look at the same surface; the last one to end leaves
  /// it.
  /// - Parameter interval: the time between reports. 20 s: two may be lost within the service's window of 60 s.
  /// - Throws: a permanent failure: the user is not a participant, or the surface does not exist. An invalid token may
  ///   be renewed before the next report. Returns when the task is cancelled.
  public func stayPresent(at surface: Surface, every interval: Duration = .seconds(20)) async throws(PushServiceError) {
    await presence.enter(surface)
    let result = await report(surface, every: interval)
    // Unstructured, so that the report is sent although the calling task is cancelled.
    await Task { await presence.exit(surface) { try? await leave(surface) } }.value
    try result.get()
  }

  private func report(_ surface: Surface, every interval: Duration) async -> Result<Void, PushServiceError> {
    while !Task.isCancelled {
      do throws(PushServiceError) {
        try await look(at: surface)
      } catch {
        // For the service, silence means that the user has left, and it checks again before it sends.
        guard error.isTemporary || error.code == .unauthorized else { return .failure(error) }
      }
      do { try await sleep(interval) } catch { break }
    }
    return .success(())
  }

  /// Reports once that the user is looking at a surface now.
  public func look(at surface: Surface) async throws(PushServiceError) {
    _ = try await send("PUT", surface.path, tries: 1)
  }

  /// Reports that the user has left a surface. The service then sends held pushes at once.
  public func leave(_ surface: Surface) async throws(PushServiceError) {
    _ = try await send("DELETE", surface.path, tries: 2)
  }
}

/// Reports the surface on the screen, for apps that learn it by calls, such as UIKit apps.
///
///     await presence.show(.conversation(id))  // viewDidAppear, willEnterForeground
///     await presence.show(nil)                // viewWillDisappear, didEnterBackground
public actor PresenceReporter {
  private let client: PushServiceClient
  private let interval: Duration
  private var generation = 0
  private var hasEnded = false
  private var current: (surface: Surface, reports: Task<Void, Never>)?

  /// - Parameter interval: the time between reports, as in ``PushServiceClient/stayPresent(at:every:)``.
  public init(_ client: PushServiceClient, every interval: Duration = .seconds(20)) {
    self.client = client
    self.interval = interval
  }

  deinit { current?.reports.cancel() }

  /// Sets the surface that the user looks at; nil for none. The same surface again has no effect, unless the service
  /// has refused its reports.
  public func show(_ surface: Surface?) {
    guard surface != current?.surface || hasEnded else { return }
    current?.reports.cancel()
    hasEnded = false
    generation += 1
    current = surface.map { surface in
      (
        surface,
        Task { [client, interval, generation, weak self] in
          try? await client.stayPresent(at: surface, every: interval)
          await self?.end(generation)
        }
      )
    }
  }

  private func end(_ ended: Int) {
    if ended == generation { hasEnded = true }
  }
}

/// The app's viewers of each surface. It keeps a report of leaving from overtaking one of looking.
///
/// When one view disappears and another appears, their reports end and begin at the same time. The last viewer leaves
/// the surface, and a new one waits until that report is sent.
actor SurfacePresence {
  private var viewers: [Surface: Int] = [:]
  private var leavings: [Surface: Task<Void, Never>] = [:]

  /// Adds a viewer.
  func enter(_ surface: Surface) async {
    viewers[surface, default: 0] += 1
    await leavings[surface]?.value
  }

  /// Removes a viewer, and calls `leave` for the last one.
  func exit(_ surface: Surface, leave: @escaping @Sendable () async -> Void) async {
    let left = (viewers[surface] ?? 1) - 1
    viewers[surface] = left > 0 ? left : nil
    guard left <= 0 else { return }
    let leaving = Task { await leave() }
    leavings[surface] = leaving
    await leaving.value
    if leavings[surface] == leaving { leavings[surface] = nil }
  }
}

/// A screen that needs no pushes while the user looks at it.
public struct Surface: Hashable, Sendable {
  /// Its kind: `conversation`, or the back end's name of another surface.
  public let kind: String
  /// The host's id.
  public let id: UUID

  /// A surface.
  public init(kind: String, id: UUID) {
    self.kind = kind
    self.id = id
  }

  /// The conversation with this id.
  public static func conversation(_ id: UUID) -> Surface { Surface(kind: "conversation", id: id) }

  /// The path of its reports.
  var path: [String] {
    let place = kind == "conversation" ? ["conversations"] : ["surfaces", kind]
    return ["v1"] + place + [id.uuidString.lowercased(), "last-seen"]
  }
}
