import ArgumentParser
import Simulators

struct ModelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "A stand-in for language models in tests and demos.",
    discussion: help)

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

  @OptionGroup
  var options: SimulatorOptions

  func validate() throws {
    guard (0...86_400_000).contains(delayMS) else { throw ValidationError("--delay-ms is a number from 0 to a day") }
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
  }

  func run() async throws {
    try await options.run { reactor in
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

// What `--help` says.
extension ModelCommand {
  private static let help = [start, control, script].joined(separator: "\n\n")

  private static let start = """
    It speaks the interfaces of two providers in plain HTTP, and is as strict
    about requests as they are: POST /v1/messages as Anthropic's, whose base
    URL is then http://127.0.0.1:2300, and POST /v1/chat/completions as
    OpenAI's, whose base URL has /v1 behind it. With port 0 the system chooses
    one; the actual address is the first line of the output, in JSON.

    Without a script it writes a push, {"title", "body"}, of the lines that it
    finds in the prompt between <decision> and </decision>: type (event_based,
    pattern_based, re_engagement), event, when, theme, topic, domain. The same
    decision gives the same words.
    """

  private static let control = """
    Everything else is said to the control endpoint, in JSON:

      PUT /simulator/script     what is answered from now on
      GET /simulator/requests   those that were let in, with their prompts and
                                what was answered, and how many were under way
                                at the same time
      DELETE /simulator/requests   forgets them, and the counters
      GET /simulator/stats      all requests in numbers
      POST /simulator/release   answers those that hang
      GET /healthz
    """

  private static let script = """
    A script has rules; the first whose "match" stands in the prompt decides,
    and one without "match" takes all. Its steps follow one another, each for
    "times" prompts, which is 1; the last one stays. "models" names those that
    exist.

      {"rules": [{"match": "presentation", "steps": [
          {"kind": "failure", "status": 429, "headers": {"retry-after": "1"}},
          {"kind": "reply", "text": "Hello", "delay_ms": 200, "times": 3},
          {"kind": "hang"}]}]}

      reply     "text", or one made of the decision; the kind when left out
      cut       the first half of it, as if the tokens had ended there
      refusal   the model will not write that
      failure   "status", "type" and "headers", if wanted
      raw       "body" as it is, with the status 200
      close     the connection is closed without a word
      hang      nothing, until it is released

    SIGTERM and SIGINT stop it.
    """
}
