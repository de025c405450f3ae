internal import Glibc
internal import PushRules
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

/// Whether pushes are sent at all.
enum ShadowCheck {
  /// Nil when they are.
  static func judge(_ shadow: ShadowedKinds) -> CheckFinding? {
    shadow.notice.map {
      CheckFinding("shadow", .warning, $0, remedy: "take SHADOW out and restart, when Tacet is to send")
    }
  }
}

/// Whether somebody relies on a proxy.
enum ProxyCheck {
  /// Nil when nobody does.
  static func judge(_ names: [String]) -> CheckFinding? {
    guard !names.isEmpty else { return nil }
    return CheckFinding(
      "proxy", .warning, "\(names.joined(separator: ", ")): \(UnusedProxies.notice)",
      remedy: "let the machine reach them without a proxy, and take the variable out")
  }
}

/// Whether files that hold secrets are kept from others on the machine.
enum SecretFileCheck {
  /// What was found of a file: its permissions, as `chmod` takes them.
  struct File: Equatable {
    let setting: String
    let path: String
    let mode: UInt32
  }

  static func judge(_ file: File) -> CheckFinding {
    let name = "file \(file.path)"
    let mode = String(file.mode & 0o7777, radix: 8)
    guard file.mode & 0o006 != 0 else {
      return CheckFinding(name, .ok, "\(file.setting), permissions \(mode)")
    }
    let everybody = file.mode & 0o002 != 0 ? "changed" : "read"
    return CheckFinding(
      name, .warning, "\(file.setting) can be \(everybody) by every user of the machine (permissions \(mode))",
      remedy: "chmod o-rw '\(file.path)'")
  }

  /// Looks at a file; nil when it does not exist, as when the setting holds something else than a path.
  static func look(at file: ExaminedSettings.SecretFile) -> File? {
    var status = stat()
    guard stat(file.path, &status) == 0 else { return nil }
    return File(setting: file.key, path: file.path, mode: status.st_mode)
  }
}
