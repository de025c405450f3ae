import PushRules
import Reactors
import Simulators
import TestLogs

@testable import Campaigns

/// A client on one reactor and a simulated model on another.
struct ModelRig {
  static let key = "key-of-the-language-model-tests"
  static let prompt = ModelPrompt(instructions: "Be brief and warm.", material: "The presentation of Ada.")

  let client: ReactorBound<LanguageModelClient>
  let simulator: LanguageModelSimulator
  var model: SimulatedModel { simulator.model }

  /// Runs a test; everything is stopped afterwards.
  ///
  /// The deadline is far beyond what a busy machine needs, unless a test changes it.
  static func run(
    _ script: ModelScript = ModelScript(), _ provider: LanguageModelProvider = .anthropicMessages,
    configure: (inout LanguageModelConfiguration) -> Void = { _ in },
    _ test: (ModelRig) async throws -> Void
  ) async throws {
    RunLogs.note(key, as: .secret)
    let group = try ReactorGroup(count: 2)
    let simulator = try await LanguageModelSimulator.start(simulatorConfiguration(script), on: group.reactors[1])
    var configuration = configuration(provider, at: simulator.origin)
    configure(&configuration)
    let client = try await group.reactors[0].perform { [configuration] reactor in
      ReactorBound(LanguageModelClient(configuration, on: reactor), on: reactor)
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await test(ModelRig(client: client, simulator: simulator)))
    } catch {
      result = .failure(error)
    }
    await client.perform { $0.close(on: $1) }
    await simulator.stop()
    await group.stop()
    try result.get()
  }

  static func configuration(_ provider: LanguageModelProvider, at origin: String) -> LanguageModelConfiguration {
    let base = provider == .openAICompatible ? origin + "/v1" : origin
    var configuration = LanguageModelConfiguration(provider, baseURL: base, key: Secret(key))
    configuration.deadline = .seconds(20)
    return configuration
  }

  private static func simulatorConfiguration(_ script: ModelScript) -> LanguageModelSimulatorConfiguration {
    var configuration = LanguageModelSimulatorConfiguration()
    configuration.script = script
    configuration.key = key
    configuration.logger = RunLogs.logger
    return configuration
  }

  /// Begins a call.
  func start(_ prompt: ModelPrompt = prompt) -> Task<LanguageModelReply, Never> {
    Task(executorPreference: client.reactor.executor) { [client] in
      await Self.reply(to: prompt, client, on: client.reactor)
    }
  }

  func reply(_ prompt: ModelPrompt = prompt) async -> LanguageModelReply { await start(prompt).value }

  private static func reply(
    to prompt: ModelPrompt, _ client: ReactorBound<LanguageModelClient>, on reactor: isolated Reactor
  ) async -> LanguageModelReply {
    await client.value(on: reactor).reply(to: prompt, on: reactor)
  }
}

extension LanguageModelReply {
  /// Why there is no text.
  var error: LanguageModelError? { if case .failure(let error) = text { error } else { nil } }
}
