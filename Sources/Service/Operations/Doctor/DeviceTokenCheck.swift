internal import PushRules
internal import PushStore
internal import Settings

/// Whether there are device tokens, and whether the service knows their apps.
enum DeviceTokenCheck {
  static let name = "device tokens"

  /// Of a host with its own tables, before the first pushes.
  static let nobodyKnown = CheckFinding(
    name, .skipped, "tacet.device_tokens returns none for the last recipients of tacet.push_log, if there are any")

  static func judge(_ counts: [DeviceTokenCount], apns: APNSSettings) -> [CheckFinding] {
    let byApp = Dictionary(grouping: counts) { apns.app(registered: $0.app) }
    let known = apns.apps.flatMap { judge($0, byApp[$0.bundleIdentifier.text] ?? []) }
    let names = Set(apns.apps.map(\.bundleIdentifier.text))
    let unknown = byApp.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
    return known + unknown.map { judge(unknown: $0.key, $0.value) }
  }

  private static func judge(_ app: AppSettings, _ counts: [DeviceTokenCount]) -> [CheckFinding] {
    let name = "\(name) \(app.bundleIdentifier.text)"
    guard !counts.isEmpty else {
      return [
        CheckFinding(
          name, .warning, "none is registered", remedy: "have the app register its token: PUT /v1/devices/{token}")
      ]
    }
    let named = Dictionary(grouping: counts) { $0.environment.isEmpty ? app.environment.rawValue : $0.environment }
    let words = named.map { (environment: $0.key, tokens: $0.value.reduce(0) { $0 + $1.tokens }) }
      .sorted { $0.environment < $1.environment }.map { "\($0.tokens) \($0.environment)" }
    return [CheckFinding(name, .ok, words.joined(separator: ", "))]
  }

  private static func judge(unknown app: String, _ counts: [DeviceTokenCount]) -> CheckFinding {
    let tokens = counts.reduce(0) { $0 + $1.tokens }
    return CheckFinding(
      "\(name) \(printable(app))", .warning, "\(tokens) of an app that is not in the settings: nothing is sent to them",
      remedy: "add a section [app \(printable(app))] to the settings file, or remove the tokens")
  }

  /// What registers tokens may write anything there.
  private static func printable(_ app: String) -> String {
    String(
      String.UnicodeScalarView(
        app.unicodeScalars.prefix(100).filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f }))
  }

  /// The routes that pushes take: each app's own, and the other environment where it has tokens.
  static func routes(_ counts: [DeviceTokenCount], apns: APNSSettings) -> [PushRoute] {
    apns.apps.flatMap { app in
      APNSEnvironment.allCases.filter { environment in
        environment == app.environment
          || counts.contains {
            apns.app(registered: $0.app) == app.bundleIdentifier.text && $0.environment == environment.rawValue
          }
      }.map { PushRoute(app: app.bundleIdentifier, environment: $0) }
    }
  }
}

extension APNSSettings {
  /// The app of a registration, which is the default one where the name is empty.
  func app(registered name: String) -> String { name.isEmpty ? defaultApp.bundleIdentifier.text : name }
}
