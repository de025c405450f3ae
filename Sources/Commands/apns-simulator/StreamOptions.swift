import APNSSimulation
import ArgumentParser

/// How many pushes a connection may have under way.
struct StreamOptions: ParsableArguments {
  @Option(help: "Streams that a connection may have open once a push was accepted.")
  var streams = 1000

  @Flag(help: "Allow all streams from the start, and after refusals.")
  var fixedStreams = false

  @Flag(inversion: .prefixedNo, help: "Start a connection with one stream, until its first push was accepted.")
  var startWithOne = true

  @Flag(inversion: .prefixedNo, help: "Go down to one stream with each refusal but 410, until the next acceptance.")
  var dropAfterRefusal = true

  @Flag(inversion: .prefixedNo, help: "Refuse streams over the limit; otherwise it is only announced.")
  var refuseExcess = true

  @Option(help: "BadDeviceToken answers without a success between them that end a connection; 0 for never.")
  var badTokens = 20

  func validate() throws {
    guard streams > 0, badTokens >= 0 else {
      throw ValidationError("--streams is a number from 1, --bad-tokens one from 0")
    }
  }

  var policy: StreamPolicy {
    var policy = StreamPolicy()
    policy.streamsMax = streams
    policy.startsWithOne = startWithOne && !fixedStreams
    policy.dropsAfterRefusal = dropAfterRefusal && !fixedStreams
    policy.refusesExcess = refuseExcess
    policy.badTokensMax = badTokens == 0 ? nil : badTokens
    return policy
  }
}
