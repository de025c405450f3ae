public import Foundation

extension PushServiceClient {
  /// Reports that the user is looking at a surface for as long as the calling task runs, and then that they have left.
  ///
  /// Made for a view's life: in SwiftUI
  ///
  ///     .task(id: scenePhase) {
  ///       guard scenePhase == .active else { return }
  ///       try? await client.stayPresent(at: .conversation(id))
  ///     }
  ///
  /// begins when the view appears or the app comes to the front, and leaves when either ends. A report that does not get
  /// through is not repeated; the next one comes anyway.
  /// - Parameter interval: between reports. 20 s: two may be lost before the service's window of 60 s is over.
  /// Several may look at the same surface; it is left when the last of them is gone.
  /// - Throws: what will not change by itself: the user does not take part, or there is no such surface. A token that is
  ///   not valid may be renewed before the next report. When the task is cancelled it returns.
  public func stayPresent(at surface: Surface, every interval: Duration = .seconds(20)) async throws(PushServiceError) {
    await presence.enter(surface)
    let result = await report(surface, every: interval)
    // Unstructured, so that it is said although the calling task is cancelled.
    await Task { await presence.exit(surface) { try? await leave(surface) } }.value
    try result.get()
  }

  private func report(_ surface: Surface, every interval: Duration) async -> Result<Void, PushServiceError> {
    while !Task.isCancelled {
      do throws(PushServiceError) {
        try await look(at: surface)
      } catch {
        // The service takes silence for leaving, and looks again before it sends.
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

  /// Reports that the user has left a surface; what was held for them goes out at once.
  public func leave(_ surface: Surface) async throws(PushServiceError) {
    _ = try await send("DELETE", surface.path, tries: 2)
  }
}

/// Reports what is on the screen, for apps that are told by calls what that is, as with UIKit.
///
///     await presence.show(.conversation(id))  // viewDidAppear, willEnterForeground
///     await presence.show(nil)                // viewWillDisappear, didEnterBackground
public actor PresenceReporter {
  private let client: PushServiceClient
  private let interval: Duration
  private var generation = 0
  private var hasEnded = false
  private var current: (surface: Surface, reports: Task<Void, Never>)?

  /// - Parameter interval: between reports, as in ``PushServiceClient/stayPresent(at:every:)``.
  public init(_ client: PushServiceClient, every interval: Duration = .seconds(20)) {
    self.client = client
    self.interval = interval
  }

  deinit { current?.reports.cancel() }

  /// What the user looks at from now on; nil for nothing. Saying the same again changes nothing, unless the service has
  /// refused the reports meanwhile.
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

/// Who of this app is looking at which surface, so that a report of leaving never overtakes one of looking.
///
/// A view that disappears and the next one that appears end and begin their reports at the same time. The surface is left
/// when the last of them is gone, and who comes meanwhile waits until that is said.
actor SurfacePresence {
  private var viewers: [Surface: Int] = [:]
  private var leavings: [Surface: Task<Void, Never>] = [:]

  /// Somebody begins to look.
  func enter(_ surface: Surface) async {
    viewers[surface, default: 0] += 1
    await leavings[surface]?.value
  }

  /// Somebody looks no more; `leave` is called when nobody else does.
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

/// Something a user can look at, and need not be pushed about meanwhile.
public struct Surface: Hashable, Sendable {
  /// What it is, e.g. `conversation` or the name the back end has given to a surface of its own.
  public let kind: String

  /// Which one: the host's id.
  public let id: UUID

  /// Names a surface.
  public init(kind: String, id: UUID) {
    self.kind = kind
    self.id = id
  }

  /// The conversation with this id.
  public static func conversation(_ id: UUID) -> Surface { Surface(kind: "conversation", id: id) }

  /// Where its views are reported, behind the service's origin.
  var path: [String] {
    let place = kind == "conversation" ? ["conversations"] : ["surfaces", kind]
    return ["v1"] + place + [id.uuidString.lowercased(), "last-seen"]
  }
}
