internal import HTTPServing
internal import HTTPTypes
internal import SimulationControl

extension ControlRoutes {
  /// Devices shown at most; their total is in the answer.
  private static let devicesShownMax = 10_000

  private struct DeviceList: Encodable {
    let tokens: [DeviceDocument]
    let total: Int
  }

  func addDevices(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.get, "/tokens") { _, _ in try ControlAnswer.json(Self.devices(of: service)) }
    routes.add(.put, "/tokens/{token}") { request, _ in
      try desk.register(DeviceDocument.read(request.body), token: request.parameter("token"))
      return ControlAnswer.done
    }
    routes.add(.delete, "/tokens/{token}") { request, _ in
      let token = request.parameter("token")
      guard service.withRegistry({ $0.removeDevice(token: token) }) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
  }

  private static func devices(of service: SimulatedService) -> DeviceList {
    let devices = service.withRegistry { $0.devices }
    let shown = devices.sorted { $0.key < $1.key }.prefix(devicesShownMax)
    return DeviceList(tokens: shown.map { DeviceDocument($0.value, token: $0.key) }, total: devices.count)
  }
}
