// A SwiftUI app that registers, reports presence, reads and taps, and logs out.
//
// TacetClient is a library of this package, for ids that are UUIDs: .package(path: "../tacet"), product TacetClient. It repeats failed
// calls.

let push = PushServiceClient(origin: URL(string: "https://push.example.com")!) { try await session.accessToken() }

final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
  func application(
    _ app: UIApplication, didFinishLaunchingWithOptions _: [UIApplication.LaunchOptionsKey: Any]? = nil
  ) -> Bool {
    UNUserNotificationCenter.current().delegate = self
    app.registerForRemoteNotifications()
    return true
  }
  func application(_: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data) {
    Task { try await push.register(DeviceRegistration(deviceToken: token)) }  // environment: .sandbox, if Xcode installed it
  }
  func userNotificationCenter(_: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
    let content = PushContent(response.notification.request.content.userInfo)
    if let id = content.pushLogID { try? await push.opened(id) }
    if let id = content.conversationID { await router.open(conversation: id) }
  }
}

ConversationView(id: id).task(id: scenePhase) {
  guard scenePhase == .active else { return }
  try? await push.stayPresent(at: .conversation(id))  // until the view disappears
}
try await push.markRead(conversation: id)
try await push.removeDevice(token: deviceToken)       // before the log-out
