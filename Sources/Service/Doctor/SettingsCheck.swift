internal import APNSCore
internal import Settings

/// Whether `tacet serve` would start with its settings.
enum SettingsCheck {
  static let name = "settings"

  static func judge(problems: [SettingsProblem], apns: APNSSettings?) -> [CheckFinding] {
    guard problems.isEmpty else {
      return problems.map { CheckFinding(name, .failure, $0.description, remedy: remedy(for: $0)) }
    }
    let apps = apns?.apps.map { "\($0.bundleIdentifier.text) (\($0.environment.rawValue))" } ?? []
    return [CheckFinding(name, .ok, "usable; apps: \(apps.joined(separator: ", "))")]
  }

  private static func remedy(for problem: SettingsProblem) -> String {
    switch problem.code {
    case .missing: "set it in the environment or in the file that TACET_CONFIG names"
    case .unknown: "correct the name or remove it"
    case .unusable: "correct its value"
    case .conflicting: "keep one"
    case .unreadable: "correct the path, or let the service's user read the file"
    case .malformed: "correct the line"
    }
  }
}
