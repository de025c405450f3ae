#if canImport(Darwin)
internal import Dispatch
internal import Foundation
internal import Network

// Linux has none of these notices, so this file is neither built nor tested there.

extension ScheduleKeeper {
  /// Runs when the app comes to the foreground, and when the clock or its zone changes. Run it in a task at each start of
  /// the app, after ``keep()``.
  public func followSystem() async {
    // By their text, because each system has a part of them.
    let names = [
      "UIApplicationWillEnterForegroundNotification", "UIApplicationSignificantTimeChangeNotification",
      "NSApplicationDidBecomeActiveNotification", "NSSystemTimeZoneDidChangeNotification",
    ]
    await withTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask {
          let notices = NotificationCenter.default.notifications(named: Notification.Name(name)).map { _ in }
          for await _ in notices { await self.trigger() }
        }
      }
    }
  }
}

extension TelemetryQueue {
  /// Sends what waits whenever the device comes online. Run it in a task at each start of the app.
  public func followNetwork() async {
    let (changes, change) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { change.yield($0.status == .satisfied) }
    monitor.start(queue: DispatchQueue.global())
    defer { monitor.cancel() }
    for await isOnline in changes where isOnline { await flush() }
  }
}
#endif
