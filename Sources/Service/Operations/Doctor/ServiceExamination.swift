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
