/// A device as the control endpoint takes and shows it.
struct DeviceDocument: ControlDocument, Encodable {
  /// In answers only; the path names it in requests.
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

  var device: RegisteredDevice {
    let end =
      unregisteredAtMilliseconds.map { RegisteredDevice.End.unregistered(atMilliseconds: $0) }
      ?? expiredAtMilliseconds.map { .expired(atMilliseconds: $0) }
    return RegisteredDevice(
      environment: environment, bundle: bundle, end: end, answers: answers ?? [],
      delayMilliseconds: max(0, delayMilliseconds ?? 0))
  }
}
