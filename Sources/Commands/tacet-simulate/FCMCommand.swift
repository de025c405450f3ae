import ArgumentParser
import Simulators

struct FCMCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fcm",
    abstract: "A local FCM for development, tests and demos.",
    discussion: help)

  @Option(help: "Where both of Google's endpoints listen; port 0 takes a free one.")
  var listen = ListenAddress("127.0.0.1", 2400)

  @Option(help: "Where the control endpoint listens. Without authentication: keep it on a loopback address.")
  var control = ListenAddress("127.0.0.1", 2401)

  @Option(help: "A service account's JSON file, whose assertions are accepted. May be repeated.")
  var serviceAccount: [String] = []

  @Option(help: "A file to write a new service account into, whose token endpoint is this simulator.")
  var accountOut: String?

  @Option(help: "The project of the new service account.")
  var project = "demo-project"

  @Option(help: "A further audience that assertions may have. May be repeated.")
  var audience: [String] = []

  @Flag(help: "Register a well-formed unknown token by its first message.")
  var acceptAnyToken = false

  @Option(help: "Records of messages kept.")
  var records = 10_000

  @OptionGroup
  var options: SimulatorOptions

  func validate() throws {
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
    guard project.wholeMatch(of: /[a-z][a-z0-9-]{3,62}/) != nil else {
      throw ValidationError("--project has 4 to 63 lower-case letters, digits and hyphens")
    }
  }

  func run() async throws {
    try await options.run { reactor in
      let simulator = try await FCMSimulator.start(simulatorConfiguration(), on: reactor)
      if let accountOut { try TextFile.write(simulator.makeServiceAccount(project: project), to: accountOut) }
      return (simulator.json, simulator.stop)
    }
  }

  private func simulatorConfiguration() throws -> FCMSimulatorConfiguration {
    var configuration = FCMSimulatorConfiguration()
    configuration.address = listen.address
    configuration.controlAddress = control.address
    configuration.serviceAccounts = try serviceAccount.map { try TextFile.read($0) }
    configuration.audiences = Set(audience)
    configuration.acceptsAnyToken = acceptAnyToken
    configuration.recordsMax = records
    return configuration
  }
}

// What `--help` says.
extension FCMCommand {
  private static let help = [start, control, faults, limits].joined(separator: "\n\n")

  private static let start = """
    It speaks plain HTTP. POST /token exchanges a signed assertion for an
    access token, as https://oauth2.googleapis.com/token does, and POST
    /v1/projects/PROJECT/messages:send takes messages as
    https://fcm.googleapis.com does. Requests are checked as strictly as
    there. With port 0 the system chooses one; the actual addresses are the
    first line of the output, in JSON.

    --account-out writes a service account as Google's console does, for a
    sender that reads such a file. --service-account takes an existing one.
    """

  private static let control = """
    Everything else goes to the control endpoint, in JSON:

      PUT /tokens/TOKEN     a device: "project", "package", "state"
                            (registered, unregistered, busy, wrong_apns_key),
                            "inactive_days", "online"; all optional
      POST /tokens/TOKEN    {"online": false}, and true to get what waits
      GET /tokens/TOKEN     what the device has received and shows
      DELETE /tokens/TOKEN
      PUT /projects/ID      "number", "api_enabled"
      POST /accounts        a service account's file; "role": false if it
                            may not send
      POST /bearers         an access token without an exchange: "token",
                            "project", "expires_in", "role", "scope"
      DELETE /bearers       ends all access tokens
      GET /messages         requests to send with their answers; ?after=,
                            ?limit=, ?token=
      GET /messages/wait    ?count=, ?timeout_ms=
      DELETE /messages
      POST /conduct         "delay_ms", "reverse_details", "accept_any_token"
      POST /clock           {"advance_ms": 3600000}
      GET /healthz
    """

  private static let faults = """
    POST /faults orders a misbehaviour for the next requests, GET shows those
    that wait, DELETE removes them. "endpoint" is send (when absent) or token,
    "skip" and "times" count its requests.

      answer       "status", and "error_status", "error_code", "message" or
                   "raw_body"; "retry_after"
      quota        429 of the project; "retry_after", "has_code"
      delay        "delay_ms"
      drop_before  the connection ends, and the message is lost
      drop_after   the connection ends, and the message is delivered
      silence      the request is never answered
    """

  private static let limits = """
    An offline device keeps 100 messages without a collapse key and 4 keys, as
    FCM does. A device shows 20 notifications at once and then one in three
    minutes. Topics, conditions and HTTP/2 are not simulated.

    SIGTERM and SIGINT stop it.
    """
}
