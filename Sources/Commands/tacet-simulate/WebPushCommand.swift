import ArgumentParser
import Simulators

struct WebPushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web-push",
    abstract: "A local Web Push service, with browsers, that checks, answers and misbehaves like the real ones.",
    discussion: help)

  @Option(help: "Where senders connect, with TLS; port 0 takes a free one.")
  var listen = ListenAddress("127.0.0.1", 8443)

  @Option(help: "Where the control endpoint listens. It has no authentication: keep it on a loopback address.")
  var control = ListenAddress("127.0.0.1", 8444)

  @Option(help: "The service of subscriptions that name none: mozilla, apple, fcm or wns.")
  var face = PushServiceFace.mozilla

  @OptionGroup
  var tls: TLSOptions

  @Option(help: "Push records kept in full.")
  var records = 10_000

  @OptionGroup
  var options: SimulatorOptions

  func validate() throws {
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
  }

  func run() async throws {
    try await options.run { reactor in
      let simulator = try await WebPushSimulator.start(simulatorConfiguration(), on: reactor)
      if let path = tls.caOut { try TextFile.write(simulator.certificateAuthority ?? "", to: path) }
      return (simulator.json, simulator.stop)
    }
  }

  private func simulatorConfiguration() throws -> WebPushSimulatorConfiguration {
    var configuration = WebPushSimulatorConfiguration()
    configuration.address = listen.address
    configuration.control = control.address
    configuration.face = face
    configuration.recordsMax = records
    configuration.identity = try tls.identity()
    return configuration
  }
}

extension PushServiceFace: ExpressibleByArgument {}

// What `--help` says.
extension WebPushCommand {
  private static let help = [start, control, faults].joined(separator: "\n\n")

  private static let start = """
    It plays browsers and their push services. Senders POST to the endpoint of
    a subscription over HTTPS, as to Mozilla, Apple, FCM or Windows. Each push
    is judged as that service does: TTL, Urgency, Topic, encoding, size, VAPID
    signature and claims, and the key of the subscription. What is accepted is
    decrypted and kept.

      tacet-simulate web-push --ca-out ca.pem
      curl localhost:8444/subscriptions -d '{"vapid_key": "BA1H..."}'

    The answer has endpoint and keys, as a browser's PushSubscription. The
    sender must trust ca.pem and allow the host 127.0.0.1:8443. With port 0
    the system chooses one; the actual addresses are the first line of the
    output, in JSON.
    """

  private static let control = """
    Everything else is said to the control endpoint, in plain HTTP and JSON:

      POST /subscriptions  and, if wanted, "id", "vapid_key", "face" (mozilla,
                           apple, fcm, wns), "state" (active, expired, gone)
      GET /subscriptions
      PUT /subscriptions/ID/state   {"state": "gone"}
      GET /pushes          ?after=N&limit=&subscription=
                           content, ttl, urgency, topic, VAPID claims, status;
                           content_fault says why a browser would drop it
      GET /pushes/wait     ?count=N&timeout_ms=  until N pushes have come
      DELETE /pushes
      POST /clock          {"advance_ms": 3600000}: the time that tokens are
                           judged by
      POST /faults         {"kind": "answer", "skip": 10, "times": 1}
      GET /faults, DELETE /faults
      GET /healthz
    """

  private static let faults = """
    A fault lets "skip" requests pass and hits the next "times", which is 1,
    of one "subscription" or of all; faults follow one another.

      answer       "status", "fields" and "body" for a good push: 429 with
                   {"retry-after": "30"}, 307 with {"location": "..."}
      delay        the answer comes "delay_ms" later
      drop_before  the connection is closed, and the push not looked at
      drop_after   the connection is closed instead of the answer
      black_hole   no answer

    SIGTERM and SIGINT stop it.
    """
}
