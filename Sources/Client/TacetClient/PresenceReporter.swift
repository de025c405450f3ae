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
