internal import HTTPServing
internal import Reactors

/// The control endpoint: how scripts set the scene and see what happened.
struct ControlRoutes: Sendable {
  let desk: ControlDesk

  var service: SimulatedService { desk.service }
  var connections: ConnectionDirectory { desk.connections }

  /// Everything the endpoint answers.
  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addDevices(to: &routes)
    addPushes(to: &routes)
    addServer(to: &routes)
    addFaults(to: &routes)
    return routes
  }
}
