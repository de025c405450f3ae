internal import Glibc
package import Logging
internal import Postgres
internal import PushRules
internal import PushStore
package import Reactors
package import Settings
internal import TemporalReferences

/// Looks at everything that a service needs, from the settings to APNs, and tells what it finds.
///
/// Changes nothing, and may run beside the service. Each look has a limit, and all of them together end within a minute:
/// connecting takes 5 s, the database 15 s, APNs 15 s, FCM 15 s, the key set 5 s, the language model 5 s.
package struct ServiceExamination: Sendable {
  private let settings: ExaminedSettings
  private let logger: Logger

  /// Looks at nothing yet.
  package init(_ settings: ExaminedSettings, logger: Logger) {
    self.settings = settings
    self.logger = logger
  }

  /// Runs every check.
  /// - Parameter tell: called with each finding as soon as it is known.
  /// - Returns: all of them.
  package func run(on reactor: isolated Reactor, tell: (CheckFinding) -> Void) async -> Diagnosis {
    var diagnosis = Diagnosis()
    func add(_ findings: [CheckFinding]) {
      for finding in findings {
        diagnosis.add(finding)
        tell(finding)
      }
    }
    add(SettingsCheck.judge(problems: settings.problems, apns: settings.apns))
    add(settings.shadow.flatMap(ShadowCheck.judge).map { [$0] } ?? [])
    add(ProxyCheck.judge(settings.unusedProxies).map { [$0] } ?? [])
    add(settings.secretFiles.compactMap(SecretFileCheck.look).map(SecretFileCheck.judge))
    var addresses = ExaminedAddresses()
    if let database = settings.database {
      addresses = await DatabaseLooks(
        database, apns: settings.apns, campaigns: settings.campaigns, sendsEvents: settings.events != nil,
        logger: logger
      ).run(
        on: reactor, add: add)
    } else {
      add([CheckFinding(DatabaseCheck.name, .skipped, "DATABASE_URL cannot be used")])
    }
    if let apns = settings.apns {
      await askRoutes(of: apns, addresses, on: reactor, add: add)
    } else {
      add([CheckFinding("apns", .skipped, "the settings of APNs cannot be used")])
    }
    add([browsers, await android(on: reactor)])
    if let events = settings.events { add([await HostEventCheck.look(events, on: reactor)]) }
    add([await keySet(on: reactor), await languageModel(on: reactor), timeZones])
    return diagnosis
  }

  private func askRoutes(
    of apns: APNSSettings, _ addresses: ExaminedAddresses, on reactor: isolated Reactor, add: ([CheckFinding]) -> Void
  ) async {
    let probe = RouteProbe(apns, until: Reactor.now + 15_000_000_000, logger: logger)
    for route in DeviceTokenCheck.routes(addresses.tokens, apns: apns) {
      let answer = await probe.ask(route, on: reactor)
      add([RouteCheck.judge(answer, of: route, at: apns.origin(of: route.environment))])
    }
    probe.close(on: reactor)
  }

  private var browsers: CheckFinding {
    settings.webPush.map(BrowserCheck.judge) ?? BrowserCheck.notUsed
  }

  private func android(on reactor: isolated Reactor) async -> CheckFinding {
    guard let fcm = settings.fcm else { return AndroidCheck.notUsed }
    return await AndroidCheck.look(fcm, on: reactor)
  }

  private func languageModel(on reactor: isolated Reactor) async -> CheckFinding {
    guard let campaigns = settings.campaigns else {
      return CheckFinding(LanguageModelCheck.name, .skipped, "the settings of campaigns cannot be used")
    }
    guard campaigns.isEnabled else { return LanguageModelCheck.notUsed }
    guard let key = campaigns.modelKey else { return LanguageModelCheck.notConfigured }
    return await LanguageModelCheck.look(campaigns, key: key, on: reactor)
  }

  private var timeZones: CheckFinding {
    settings.campaigns?.isEnabled == true ? TimeZoneCheck.judge(.system) : TimeZoneCheck.notUsed
  }

  private func keySet(on reactor: isolated Reactor) async -> CheckFinding {
    guard let callers = settings.callers else {
      return CheckFinding(KeySetCheck.name, .skipped, "the settings of callers cannot be used")
    }
    guard let url = callers.keySetURL else { return KeySetCheck.notUsed }
    return KeySetCheck.judge(
      await KeySetProbe.ask(url.exposed, certificates: callers.keySetCertificates, on: reactor))
  }
}

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
