import ArgumentParser
import Channels
import CoreMetrics
import FoundationEssentials
import Logging
import Operations
import PushRules
import PushStore
import Reactors
import Settings

struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Sends one push to your own device, and says what the push service answered.",
    discussion: """
      Reads the settings of `tacet serve` from where that reads them. With --device it asks no database; with --user it reads \
      which devices are registered. It decides nothing, writes no row, and heeds neither presence nor preferences. Exits 0 when \
      every device's push was accepted, 1 when one was not or there is none, 2 when it could not ask.
      """)

  @Option(help: "The device token, as the app got it.")
  var device: String?

  @Option(help: "The user, instead of a token: all of the user's devices, browsers too.")
  var user: String?

  @Option(help: "The first line.")
  var title: String

  @Option(help: "The text.")
  var body = ""

  @Option(help: "With a token: the app that it is of. Without it the default app.")
  var app: String?

  @Option(help: "With a token: sandbox or production. Without it the app's own, and then the other one.")
  var environment: String?

  @Option(help: "With a token: apns, or fcm for a registration token of Firebase.")
  var channel = DeliveryChannel.apns.rawValue

  private static let refused = ExitCode(1)
  private static let cannotAsk = ExitCode(2)

  func validate() throws {
    guard (device == nil) != (user == nil) else { throw ValidationError("Name one of --device and --user.") }
    let channels = [DeliveryChannel.apns.rawValue, FCMChannel.channel.rawValue]
    guard channels.contains(channel) else { throw ValidationError("--channel must be apns or fcm.") }
    guard environment.map({ APNSEnvironment(rawValue: $0) != nil }) != false else {
      throw ValidationError("--environment must be sandbox or production.")
    }
  }

  func run() async throws {
    let isAccepted: Bool
    do {
      isAccepted = try await send()
    } catch let DecodingError.dataCorrupted(context) {
      let name = context.codingPath.last?.stringValue ?? "title"
      StandardStream.error.say("tacet push: --\(name) \(context.debugDescription)\n")
      throw Self.cannotAsk
    } catch {
      StandardStream.error.say("tacet push: \(String(reflecting: error))\n")
      throw Self.cannotAsk
    }
    guard isAccepted else { throw Self.refused }
  }

  private func send() async throws -> Bool {
    let push = try TrialPush(title: title, body: body)
    let environment = ProcessInfo.processInfo.environment
    let settings = ExaminedSettings(environment: environment)
    for problem in settings.problems { StandardStream.error.say("tacet push: \(problem.description)\n") }
    let targets = try await targets(environment)
    if targets.isEmpty { StandardStream.output.say("No device of the user is registered.\n") }
    return try await ReactorGroup.perform { reactor in
      let logger = Logger(label: "tacet.push") { _ in SwiftLogNoOpLogHandler() }
      let others = OtherDeliverers(settings.channels.compactMap(\.channel), on: reactor)
      let clients = try settings.apns.map {
        AppClients(try APNSPlan($0), shadow: .none, metrics: NOOPMetricsHandler.instance, logger: logger)
      }
      let deliverers = (clients.map { [$0.deliverer] } ?? []) + others.all
      var acceptedCount = 0
      for target in targets {
        let answer = await push.send(to: target, by: deliverers, on: reactor)
        StandardStream.output.say(answer.text + "\n")
        if answer.isAccepted { acceptedCount += 1 }
      }
      clients?.close(on: reactor)
      others.close(on: reactor)
      return acceptedCount == targets.count && acceptedCount > 0
    }
  }

  private func targets(_ environment: [String: String]) async throws -> [PushTarget] {
    guard let user else {
      return [
        PushTarget(DeliveryChannel(rawValue: channel), address: device ?? "", environment: self.environment, app: app)
      ]
    }
    let settings = try CommandSettings(environment: environment, needsSession: false)
    return try await OperatorSession.perform(settings) { database, reactor in
      try await database.targets(of: try database.idTypes.users.id(user, of: "user"), on: reactor)
    }
  }
}
