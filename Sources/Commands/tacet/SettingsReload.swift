import HTTP1
import Logging
import PushRules
import Reactors
import Settings

/// Reads the settings again while the service runs, and makes it follow what is renewed without a restart: the apps' keys
/// and the certificate of the HTTP service.
///
/// All or nothing: when anything is unusable, everything stays as it is. Pushes go on meanwhile.
struct SettingsReload {
  /// How long new connections may take before the old ones are given up for them; as long as one try to connect.
  private static let warmUpLimit = Duration.seconds(5)

  private let start: ServeSettings
  private let read: @Sendable () throws -> ServeSettings
  private let workers: PerReactor<ReactorWorker>
  private let http: HTTPService
  private let logger: Logger
  private var plan: APNSPlan
  private var tls: TLSSettings?

  init(
    from start: ServeSettings, plan: APNSPlan, workers: PerReactor<ReactorWorker>, http: HTTPService, logger: Logger,
    read: @escaping @Sendable () throws -> ServeSettings
  ) {
    self.start = start
    self.plan = plan
    self.workers = workers
    self.http = http
    tls = start.tls
    self.logger = logger
    self.read = read
  }

  /// Returns when every reactor follows the settings, or when they turned out to be unusable; the log says which.
  mutating func run() async {
    do {
      let settings = try read()
      let apns = plan.settings.signing(like: settings.apns)
      let renewed = zip(plan.settings.apps, apns.apps).filter { $0.key != $1.key }.map(\.1.bundleIdentifier)
      let renewedTLS = tls == nil || tls == settings.tls ? nil : settings.tls
      let context = try renewedTLS?.context()
      if !renewed.isEmpty {
        plan = try APNSPlan(apns, after: plan)
        await follow(plan, renewed: Set(renewed))
      }
      if let context {
        tls = renewedTLS
        await http.replaceTLS(context)
      }
      report(renewed, hasNewCertificate: context != nil, needingRestart: settings.keysNeedingRestart(since: start))
    } catch let error as SettingsError {
      refuse(error.problems.map(\.description).joined(separator: "; "))
    } catch {
      refuse("\(error)")
    }
  }

  private func follow(_ plan: APNSPlan, renewed: Set<BundleIdentifier>) async {
    await withDiscardingTaskGroup { group in
      for worker in workers.all {
        group.addTask {
          await worker.perform {
            await $0.follow(plan, renewed: renewed, within: Self.warmUpLimit, on: $1)
          }
        }
      }
    }
  }

  private func refuse(_ problems: String) {
    logger.error("settings not reloaded, those before stay", metadata: ["problems": "\(problems)"])
  }

  private func report(_ renewed: [BundleIdentifier], hasNewCertificate: Bool, needingRestart keys: [String]) {
    var metadata: Logger.Metadata = [:]
    func add(_ name: String, _ words: [String]) {
      if !words.isEmpty { metadata[name] = "\(words.joined(separator: " "))" }
    }
    add("keys", renewed.map(\.text))
    add("certificate", hasNewCertificate ? ["renewed"] : [])
    add("needs_restart", keys)
    logger.notice(metadata.isEmpty ? "settings reloaded, nothing has changed" : "settings reloaded", metadata: metadata)
  }
}
