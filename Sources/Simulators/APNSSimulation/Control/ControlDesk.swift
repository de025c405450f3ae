internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import SimulationControl

/// Carries out the orders of scripts from the control endpoint or a scenario.
struct ControlDesk: Sendable {
  let service: SimulatedService
  let connections: ConnectionDirectory

  /// Registers a device, and its app with the first device.
  func register(_ document: DeviceDocument, token: String) throws(ProblemDetails) {
    guard PushInquiry.isDeviceToken(token) else {
      throw ProblemDetails.unfit("a device token is an even number of hexadecimal digits")
    }
    let device = try document.device()
    registerApp(device.bundle)
    guard service.register(device, token: token) else { throw ProblemDetails.full("too many devices or activities") }
  }

  private func registerApp(_ bundle: String) {
    service.withRegistry { registry in
      if registry.bundles[bundle] == nil { registry.registerBundle(bundle, team: nil) }
    }
  }

  func register(_ document: KeyDocument) throws(ProblemDetails) {
    let key = try document.key()
    service.withRegistry { $0.register(key) }
  }

  func register(_ document: BundleDocument) {
    service.withRegistry { $0.registerBundle(document.bundle, team: document.team) }
  }

  func register(_ document: CertificateDocument) throws(ProblemDetails) {
    let (certificate, der) = try document.certificate()
    service.withRegistry { $0.register(certificate, der: der) }
  }

  func move(_ document: ClockDocument) throws(ProblemDetails) {
    try document.check()
    service.clock.advance(milliseconds: document.advanceMilliseconds)
  }

  func change(_ document: ConductDocument) throws(ProblemDetails) {
    try document.check()
    service.withRegistry { document.change(&$0) }
    document.change(&service.conduct)
  }

  /// - Returns: the number of connections that the fault struck at once; nil for other orders.
  func arrange(_ document: FaultDocument, on reactor: isolated Reactor) throws(ProblemDetails) -> Int? {
    let order = try document.order()
    let delay = Duration.milliseconds(document.afterMilliseconds ?? 0)
    if case .script(var entry) = order {
      if delay > .zero { entry.notBefore = Reactor.now + UInt64(delay / .nanoseconds(1)) }
      guard service.withFaults({ $0.append(entry) }) else { throw ProblemDetails.full("too many faults are waiting") }
      return nil
    }
    guard delay > .zero else { return carryOut(order) }
    reactor.start {
      await reactor.sleep(for: delay)
      _ = self.carryOut(order)
    }
    return nil
  }

  private func carryOut(_ order: FaultOrder) -> Int? {
    switch order {
    case .script: return nil
    case .strike(let fault): return connections.strike(fault)
    case .refuseNext(let count): connections.refuse(next: count)
    case .refuseFor(let milliseconds): connections.refuse(for: .milliseconds(milliseconds))
    }
    return nil
  }
}
