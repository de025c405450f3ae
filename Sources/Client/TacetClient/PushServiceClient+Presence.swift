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
