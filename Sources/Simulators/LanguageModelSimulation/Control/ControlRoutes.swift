internal import HTTPServing
internal import HTTPTypes
internal import SimulationControl

/// The control endpoint: how scripts set the scene and see what happened.
struct ControlRoutes: Sendable {
  private struct Requests: Encodable {
    let requests: [RequestRecord]
    let inFlight: Int
    let inFlightMax: Int

    enum CodingKeys: String, CodingKey {
      case requests
      case inFlight = "in_flight"
      case inFlightMax = "in_flight_max"
    }
  }

  private struct Released: Encodable {
    let released: Int
  }

  let model: SimulatedModel

  func add(to routes: inout HTTPRoutes) {
    let model = model
    routes.add(.put, "/simulator/script") { request, _ in
      model.play(try ScriptDocument.read(request.body).script())
      return ControlAnswer.done
    }
    routes.add(.get, "/simulator/requests") { _, _ in
      let (requests, statistics) = (model.requests, model.statistics)
      return try ControlAnswer.json(
        Requests(requests: requests, inFlight: statistics.inFlight, inFlightMax: statistics.inFlightMax))
    }
    routes.add(.delete, "/simulator/requests") { _, _ in
      model.forgetRequests()
      return ControlAnswer.done
    }
    routes.add(.get, "/simulator/stats") { _, _ in try ControlAnswer.json(model.statistics) }
    routes.add(.post, "/simulator/release") { _, _ in try ControlAnswer.json(Released(released: model.release())) }
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
  }
}
