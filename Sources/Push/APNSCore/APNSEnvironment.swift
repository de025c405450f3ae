/// One of Apple's two separate push services; a device token works in the one that issued it and nowhere else.
public enum APNSEnvironment: String, CaseIterable, Sendable {
  /// For apps from the App Store, TestFlight and ad hoc distribution.
  case production
  /// For apps that Xcode installed, whose entitlement says `development`.
  case sandbox

  /// Apple's host for pushes to devices. Port 443, or 2197 where a firewall passes nothing else.
  public var hostName: String {
    switch self {
    case .production: "api.push.apple.com"
    case .sandbox: "api.sandbox.push.apple.com"
    }
  }
}
