import ArgumentParser
import Doctor
import FoundationEssentials
import Glibc
import HTTPTransfers
import HTTPTypes
import PushStore
import Reactors
import Settings

/// `tacet support-bundle`
struct SupportBundleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "support-bundle",
    abstract: "Prints what somebody who helps from afar needs to know, for a ticket. Changes nothing.",
    discussion: """
      Version and machine, the names of the settings (not their values), what `tacet doctor` finds, facts about the \
      database, and the figures of /metrics where the service answers. No secret, no text of a push, no device token \
      and no id of a user is in it. What cannot be asked is named, and the rest is printed.
      """)

  /// How long the service may take for its figures, which ask the database for two seconds at most.
  private static let figuresLimit = Duration.seconds(5)

  @Option(
    help: "Where the service answers /metrics; without it METRICS_ADDRESS, or else LISTEN_ADDRESS, over plain HTTP.")
  var metricsUrl: String?

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let settings = ExaminedSettings(environment: environment)
    section("Tacet \(BuildInformation.version)", Date.now.formatted(.iso8601) + "\n" + Self.machine)
    section("Settings that are set", settings.namesInUse.joined(separator: "\n"))
    let diagnosis = try await ServiceExamination.run(settings)
    section("tacet doctor", (diagnosis.findings.map(\.line) + [diagnosis.summary]).joined(separator: "\n"))
    section("Database", await Self.databaseFacts(environment))
    let url = metricsUrl ?? settings.metricsURL
    section("Figures of \(url ?? "no address")", await Self.figures(url))
  }

  private func section(_ title: String, _ text: String) {
    StandardStream.output.say("== \(title)\n\(text)\n\n")
  }

  private static var machine: String {
    var name = utsname()
    uname(&name)
    let system = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let processors = ReactorGroup.processorCount
    return "Linux \(system), \(processors) processors"
  }

  private static func databaseFacts(_ environment: [String: String]) async -> String {
    do {
      let settings = try CommandSettings(environment: environment, needsSession: false)
      return try await OperatorSession.perform(settings) { try await $0.supportFacts(on: $1) }
    } catch {
      return "cannot be asked: \(error)"
    }
  }

  private static func figures(_ url: String?) async -> String {
    guard let url else { return "cannot be asked: the settings have no usable address" }
    do {
      return try await ReactorGroup.perform { reactor in
        let client = HTTPTransferClient(on: reactor)
        defer { client.close(on: reactor) }
        let answer = try await client.send(HTTPTransferRequest(url: url, deadline: figuresLimit), on: reactor)
        guard answer.status.code == 200 else { return "cannot be asked: status \(answer.status.code)" }
        return String(decoding: answer.body, as: UTF8.self)
      }
    } catch {
      return "cannot be asked: \(error)"
    }
  }
}
