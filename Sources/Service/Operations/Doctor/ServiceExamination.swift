internal import Channels
internal import Glibc
package import Logging
internal import PushRules
package import Reactors
package import Settings
internal import TemporalReferences

/// Looks at everything that a service needs, from the settings to APNs, and tells what it finds.
///
/// Changes nothing, and may run beside the service. Each look has a limit, and all of them together end within a minute:
/// connecting takes 5 s, the database 15 s, APNs 15 s, every other channel 15 s, the key set 5 s, the language model 5 s.
package struct ServiceExamination: Sendable {
  static let settingsName = "settings"

  let settings: ExaminedSettings
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
    func add(_ name: String, _ judgements: [Judgement]) {
      for finding in judgements.map({ CheckFinding(name, $0) }) {
        diagnosis.findings.append(finding)
        tell(finding)
      }
    }
    add(Self.settingsName, Judgement.settings(settings.problems, settings.apns))
    add("shadow", Judgement.shadow(settings.shadow))
    add("proxy", Judgement.proxies(settings.unusedProxies))
    add("file", settings.secretFiles.compactMap(Judgement.secretFile))
    let tokens = await DatabaseLooks.run(settings, logger: logger, on: reactor, add: add)
    if let apns = settings.apns {
      let probe = RouteProbe(apns, until: Reactor.now + 15_000_000_000, logger: logger)
      for route in apns.routes(of: tokens) { add("apns \(route.name)", [await probe.ask(route, on: reactor)]) }
      probe.close(on: reactor)
    } else {
      add("apns", [.skipped("the settings of APNs cannot be used")])
    }
    for reading in settings.channels {
      let check = reading.type.check
      add(
        check.name, [await reading.channel?.examine(on: reactor)].map { $0.map(Judgement.init) ?? .skipped(check.off) })
    }
    if let events = settings.events { add("host events receiver", [await receiver(events, on: reactor)]) }
    add("jwks", [await keySet(on: reactor)])
    add("language model", [await languageModel(on: reactor)])
    add("time zones", [settings.campaigns?.isEnabled == true ? .timeZones(.system) : .campaignsOff])
    return diagnosis
  }
}

// What needs nothing but this machine.
extension Judgement {
  /// Whether `tacet serve` would start with its settings.
  static func settings(_ problems: [SettingsProblem], _ apns: APNSSettings?) -> [Judgement] {
    let apps = apns?.apps.map { "\($0.bundleIdentifier.text) (\($0.environment.rawValue))" } ?? []
    return problems.map { .failure($0.description, remedy: remedy(for: $0)) }
      .or("usable; apps: \(apps.joined(separator: ", "))")
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

  /// Nothing where all pushes are sent.
  static func shadow(_ shadow: ShadowedKinds?) -> [Judgement] {
    shadow?.notice.map { [.warning($0, remedy: "take SHADOW out and restart, when Tacet is to send")] } ?? []
  }

  /// Whether the operator relies on a proxy; nothing where there is none.
  static func proxies(_ names: [String]) -> [Judgement] {
    guard !names.isEmpty else { return [] }
    return [
      .warning(
        "\(names.joined(separator: ", ")): \(UnusedProxies.notice)",
        remedy: "let the machine reach them without a proxy, and take the variable out")
    ]
  }

  /// Looks at a file; nil when it does not exist, as when the setting holds something else than a path.
  static func secretFile(_ file: ExaminedSettings.SecretFile) -> Judgement? {
    var status = stat()
    return stat(file.path, &status) == 0 ? secretFile(file, mode: status.st_mode) : nil
  }

  /// Whether a file that holds a secret is kept from others on the machine.
  static func secretFile(_ file: ExaminedSettings.SecretFile, mode: UInt32) -> Judgement {
    let permissions = "permissions \(String(mode & 0o7777, radix: 8))"
    let judgement: Judgement
    if mode & 0o006 == 0 {
      judgement = .ok("\(file.key), \(permissions)")
    } else {
      let everybody = mode & 0o002 != 0 ? "changed" : "read"
      judgement = .warning(
        "\(file.key) can be \(everybody) by every user of the machine (\(permissions))",
        remedy: "chmod o-rw '\(file.path)'")
    }
    return judgement.named("file \(file.path)")
  }

  /// Whether this machine has the time zones by which campaigns tell today from tomorrow.
  static func timeZones(_ directory: ZoneDirectory) -> Judgement {
    // A zone of every directory there is, with changes that an empty file would not have.
    directory.rules(of: "America/New_York")?.nextChange(after: 0) != nil
      ? .ok(directory.path)
      : .failure("this machine has no time zone data in \(directory.path)", remedy: "install the package tzdata")
  }
}
