internal import HTTPServing
internal import HTTPTypes

extension ControlRoutes {
  /// Devices shown at most; their total is in the answer.
  private static let devicesShownMax = 10_000

  private struct DeviceList: Encodable {
    let tokens: [DeviceDocument]
    let total: Int
  }

  func addDevices(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/tokens") { _, _ in try Self.json(Self.devices(of: service)) }
    routes.add(.put, "/tokens/{token}") { request, _ in
      try Self.register(request, with: service)
      return HTTPServerResponse(status: .noContent)
    }
    routes.add(.delete, "/tokens/{token}") { request, _ in
      let token = request.parameter("token")
      guard service.withRegistry({ $0.removeDevice(token: token) }) else { throw ProblemDetails(.notFound) }
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func devices(of service: SimulatedService) -> DeviceList {
    let devices = service.withRegistry { $0.devices }
    let shown = devices.sorted { $0.key < $1.key }.prefix(devicesShownMax)
    return DeviceList(tokens: shown.map { DeviceDocument($0.value, token: $0.key) }, total: devices.count)
  }

  /// The app becomes known with its first device.
  private static func register(_ request: HTTPServerRequest, with service: SimulatedService) throws(ProblemDetails) {
    let token = request.parameter("token")
    guard PushInquiry.isDeviceToken(token) else {
      throw ProblemDetails.unfit("a device token is an even number of hexadecimal digits")
    }
    let device = try DeviceDocument.read(request.body).device
    let isRegistered = service.withRegistry { registry in
      if registry.bundles[device.bundle] == nil { registry.registerBundle(device.bundle, team: nil) }
      return registry.register(device, token: token)
    }
    guard isRegistered else { throw ProblemDetails.full("too many devices") }
  }
}
