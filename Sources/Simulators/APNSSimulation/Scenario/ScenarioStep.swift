internal import HTTPServing
internal import Reactors
internal import SimulationControl

/// One step of a scenario: exactly one order, at its time.
struct ScenarioStep: ControlDocument {
  /// Milliseconds after the start; nil is before the first client can connect.
  var atMilliseconds: Int?
  /// What the control endpoint takes at the path of the same name; a device names its token.
  var device: Checked<DeviceDocument>?
  var key: Checked<KeyDocument>?
  var bundle: Checked<BundleDocument>?
  var certificate: Checked<CertificateDocument>?
  var conduct: Checked<ConductDocument>?
  var clock: Checked<ClockDocument>?
  var fault: Checked<FaultDocument>?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case device, key, bundle, certificate, conduct, clock, fault
    case atMilliseconds = "at_ms"
  }

  private static let kinds = CodingKeys.allCases.filter { $0 != .atMilliseconds }.map(\.rawValue)

  /// Everything that can be wrong with the step is found here, before anything is carried out.
  func check() throws(ProblemDetails) {
    let orders = [
      device != nil, key != nil, bundle != nil, certificate != nil, conduct != nil, clock != nil, fault != nil,
    ]
    guard orders.count(where: { $0 }) == 1 else {
      throw ProblemDetails.unfit("a step has one of \(Self.kinds.joined(separator: ", "))")
    }
    try ControlLimits.check("at_ms", atMilliseconds)
    _ = try device?.document.device()
    if let device, !PushInquiry.isDeviceToken(device.document.token ?? "") {
      throw ProblemDetails.unfit("device.token is an even number of hexadecimal digits")
    }
    _ = try key?.document.key()
    _ = try certificate?.document.certificate()
    try conduct?.document.check()
    try clock?.document.check()
    _ = try fault?.document.order()
  }

  func carryOut(at desk: ControlDesk, on reactor: isolated Reactor) throws(ProblemDetails) {
    if let device = device?.document { try desk.register(device, token: device.token ?? "") }
    if let key { try desk.register(key.document) }
    if let bundle { desk.register(bundle.document) }
    if let certificate { try desk.register(certificate.document) }
    if let conduct { try desk.change(conduct.document) }
    if let clock { try desk.move(clock.document) }
    if let fault { _ = try desk.arrange(fault.document, on: reactor) }
  }
}
