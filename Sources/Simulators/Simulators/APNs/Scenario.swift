internal import HTTP1
internal import HTTPTypes
internal import Reactors

/// A list of steps: registrations before the first client, and later events with their times.
///
/// In JSON it is an array of steps, or one step on each line. Steps without `at_ms` come first, in order. The others
/// have ascending times.
package struct Scenario: Sendable {
  let steps: [ScenarioStep]

  /// Reads and checks a whole scenario.
  /// - Throws: ``ScenarioError`` that names the step.
  package init(parsing text: String) throws(ScenarioError) {
    let isArray = text.first { !$0.isWhitespace } == "["
    let read = isArray ? try Self.items(in: text) : try Self.lines(in: text)
    var latest = -1
    for (place, step) in read {
      try Self.locating(place) { () throws(ProblemDetails) in try step.check() }
      guard step.atMilliseconds ?? -1 >= latest else {
        throw ScenarioError(place, "at_ms goes back: steps stand in the order in which they happen")
      }
      latest = step.atMilliseconds ?? latest
    }
    steps = read.map(\.step)
  }

  private static func items(in text: String) throws(ScenarioError) -> [(place: String, step: ScenarioStep)] {
    let items = try locating("the file") { () throws(ProblemDetails) in
      try decodeControl([Checked<ScenarioStep>].self, from: Array(text.utf8))
    }
    return zip(1..., items).map { ("step \($0)", $1.document) }
  }

  private static func lines(in text: String) throws(ScenarioError) -> [(place: String, step: ScenarioStep)] {
    var steps: [(place: String, step: ScenarioStep)] = []
    for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false))
    where !line.allSatisfy(\.isWhitespace) {
      let place = "line \(number)"
      let step = try locating(place) { () throws(ProblemDetails) in try ScenarioStep.read(Array(line.utf8)) }
      steps.append((place, step))
    }
    return steps
  }

  private static func locating<Result>(
    _ place: String, _ body: () throws(ProblemDetails) -> Result
  ) throws(ScenarioError) -> Result {
    do throws(ProblemDetails) {
      return try body()
    } catch {
      throw ScenarioError(place, error.detail ?? error.title)
    }
  }
}

extension Scenario {
  /// Carries out the steps before the first client.
  func begin(at desk: ControlDesk, on reactor: isolated Reactor) throws(ScenarioError) {
    for (number, step) in zip(1..., steps) where step.atMilliseconds == nil {
      try carryOut(step, number, at: desk, on: reactor)
    }
  }

  /// Carries out the other steps, each at its time from now.
  /// - Parameter failed: called for a failed step; the next ones still follow.
  func goOn(at desk: ControlDesk, on reactor: isolated Reactor, failed: (ScenarioError) -> Void) async {
    let start = Reactor.now
    for (number, step) in zip(1..., steps) {
      guard let moment = step.atMilliseconds else { continue }
      let left = Duration.milliseconds(moment) - .nanoseconds(Int64(Reactor.now - start))
      if left > .zero { await reactor.sleep(for: left) }
      do throws(ScenarioError) {
        try carryOut(step, number, at: desk, on: reactor)
      } catch {
        failed(error)
      }
    }
  }

  private func carryOut(
    _ step: ScenarioStep, _ number: Int, at desk: ControlDesk, on reactor: isolated Reactor
  ) throws(ScenarioError) {
    do throws(ProblemDetails) {
      try step.carryOut(at: desk, on: reactor)
    } catch {
      throw ScenarioError("step \(number)", error.detail ?? error.title)
    }
  }
}

package struct ScenarioError: Error, Equatable, Sendable, CustomStringConvertible {
  /// `line 3: skip is a number from 0`
  package let description: String

  init(_ place: String, _ text: String) {
    description = "\(place): \(text)"
  }
}

/// One step of a scenario: exactly one order with its time.
struct ScenarioStep: ControlDocument {
  /// Milliseconds after the start; nil for before the first client.
  var atMilliseconds: Int?
  /// The documents of the control endpoint. A device has its token.
  var device: Checked<APNSDeviceDocument>?
  var key: Checked<KeyDocument>?
  var bundle: Checked<BundleDocument>?
  var certificate: Checked<CertificateDocument>?
  var conduct: Checked<APNSConductDocument>?
  var clock: Checked<ClockDocument>?
  var fault: Checked<APNSFaultDocument>?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case device, key, bundle, certificate, conduct, clock, fault
    case atMilliseconds = "at_ms"
  }

  private static let kinds = CodingKeys.allCases.filter { $0 != .atMilliseconds }.map(\.rawValue)

  /// Finds all mistakes before any step is carried out.
  func check() throws(ProblemDetails) {
    let orders = [
      device != nil, key != nil, bundle != nil, certificate != nil, conduct != nil, clock != nil, fault != nil,
    ]
    guard orders.count(where: { $0 }) == 1 else {
      throw ProblemDetails.unfit("a step has one of \(Self.kinds.joined(separator: ", "))")
    }
    try ControlLimits.check("at_ms", atMilliseconds)
    _ = try device?.document.device()
    if let device, !APNSInquiry.isDeviceToken(device.document.token ?? "") {
      throw ProblemDetails.unfit("device.token is an even number of hexadecimal digits")
    }
    _ = try key?.document.key()
    _ = try certificate?.document.certificate()
    try conduct?.document.check()
    _ = try clock?.document.checked()
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

/// Carries out the orders of scripts from the control endpoint or a scenario.
struct ControlDesk: Sendable {
  let service: SimulatedService
  let connections: ConnectionDirectory

  /// Registers a device, and its app with the first device.
  func register(_ document: APNSDeviceDocument, token: String) throws(ProblemDetails) {
    guard APNSInquiry.isDeviceToken(token) else {
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
    service.clock.advance(milliseconds: try document.checked())
  }

  func change(_ document: APNSConductDocument) throws(ProblemDetails) {
    try document.check()
    service.withRegistry { document.change(&$0) }
    document.change(&service.conduct)
  }

  /// - Returns: the number of connections that the fault struck at once; nil for other orders.
  func arrange(_ document: APNSFaultDocument, on reactor: isolated Reactor) throws(ProblemDetails) -> Int? {
    let order = try document.order()
    let delay = Duration.milliseconds(document.afterMilliseconds ?? 0)
    if case .script(var entry) = order {
      if delay > .zero { entry.notBefore = Reactor.now + UInt64(delay / .nanoseconds(1)) }
      guard service.withFaults({ $0.arrange(entry) }) else { throw ProblemDetails.full("too many faults are waiting") }
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
