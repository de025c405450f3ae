internal import HTTPServing
internal import SimulationControl

/// A device as scripts register it and the control endpoint shows it.
struct DeviceDocument: ControlDocument, Encodable {
  /// In answers and scenarios; the path names it in requests.
  var token: String?
  var environment: SimulatedEnvironment
  var bundle: String
  var unregisteredAtMilliseconds: Int64?
  var expiredAtMilliseconds: Int64?
  var answers: [ScriptedAnswer]?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token, environment, answers
    case bundle = "bundle_id"
    case unregisteredAtMilliseconds = "unregistered_at_ms"
    case expiredAtMilliseconds = "expired_at_ms"
    case delayMilliseconds = "delay_ms"
  }

  init(_ device: RegisteredDevice, token: String) {
    self.token = token
    environment = device.environment
    bundle = device.bundle
    switch device.end {
    case .unregistered(let moment): unregisteredAtMilliseconds = moment
    case .expired(let moment): expiredAtMilliseconds = moment
    case nil: break
    }
    answers = device.answers.isEmpty ? nil : device.answers
    delayMilliseconds = device.delayMilliseconds == 0 ? nil : device.delayMilliseconds
  }

  /// - Throws: `ProblemDetails` for values that no device has.
  func device() throws(ProblemDetails) -> RegisteredDevice {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    guard unregisteredAtMilliseconds == nil || expiredAtMilliseconds == nil else {
      throw ProblemDetails.unfit("a token ends once: unregistered_at_ms or expired_at_ms")
    }
    for answer in answers ?? [] {
      try ControlLimits.check("status", answer.status, from: 200, to: 599)
      try ControlLimits.check("times", answer.times, from: 1, to: ScriptedAnswer.always)
    }
    let end =
      unregisteredAtMilliseconds.map { RegisteredDevice.End.unregistered(atMilliseconds: $0) }
      ?? expiredAtMilliseconds.map { .expired(atMilliseconds: $0) }
    return RegisteredDevice(
      environment: environment, bundle: bundle, end: end, answers: answers ?? [],
      delayMilliseconds: delayMilliseconds ?? 0)
  }
}
