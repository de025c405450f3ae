import ArgumentParser
import LanguageModelSimulation
import Logging
import SimulatorCommands

@main
struct ModelSimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model-simulator",
    abstract: "A stand-in for language models in tests and demos.",
    discussion: ModelSimulatorHelp.text)

  @Option(help: "Where it listens; port 0 takes a free one. Without authentication: keep it on a loopback address.")
  var listen = ListenAddress("127.0.0.1", 2300)

  @Option(help: "A file with a script, as PUT /simulator/script takes it.")
  var script: String?

  @Option(help: "Milliseconds that every answer takes longer than at once.")
  var delayMS = 0

  @Option(help: "The only key that is let in; any when left out.")
  var key: String?

  @Option(help: "Records of requests kept.")
  var records = 1000

  @Option(help: "A file to write the actual address into, as JSON, once it listens.")
  var readyFile: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: SimulatorLog.level)
  var logLevel = Logger.Level.info

  func validate() throws {
    guard (0...86_400_000).contains(delayMS) else { throw ValidationError("--delay-ms is a number from 0 to a day") }
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
  }

  func run() async throws {
    try await SimulatorProcess.run(at: logLevel, writingTo: readyFile) { reactor in
      let simulator = try await LanguageModelSimulator.start(simulatorConfiguration(), on: reactor)
      return (simulator.json, simulator.stop)
    }
  }

  private func simulatorConfiguration() throws -> LanguageModelSimulatorConfiguration {
    var configuration = LanguageModelSimulatorConfiguration()
    configuration.address = listen.address
    configuration.script = try script.map(Self.script) ?? ModelScript()
    configuration.delayMilliseconds = delayMS
    configuration.key = key
    configuration.recordsMax = records
    return configuration
  }

  private static func script(at path: String) throws -> ModelScript {
    let text = try TextFile.read(path)
    do throws(ModelScriptError) {
      return try ModelScript(parsing: text)
    } catch {
      throw ValidationError("\(path): \(error)")
    }
  }
}
