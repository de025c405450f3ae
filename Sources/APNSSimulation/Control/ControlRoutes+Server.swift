internal import HTTPServing
internal import HTTPTypes

extension ControlRoutes {
  private struct Health: Encodable {
    let status = "ok"
    let pushes: Int
    let connections: Int
  }

  private struct Connections: Encodable {
    let opened: Int
    let open: [ConnectionSummary]
  }

  private struct Struck: Encodable {
    let connections: Int
  }

  private struct ClockDocument: ControlDocument {
    var advanceMilliseconds: Int64

    enum CodingKeys: String, CodingKey, CaseIterable {
      case advanceMilliseconds = "advance_ms"
    }
  }

  func addServer(to routes: inout HTTPRoutes) {
    let (service, connections) = (service, connections)
    routes.add(.get, "/healthz") { _, _ in
      try Self.json(Health(pushes: service.withLog { $0.total }, connections: connections.open.count))
    }
    routes.add(.get, "/connections") { _, _ in
      try Self.json(Connections(opened: connections.openedCount, open: connections.open))
    }
    routes.add(.post, "/keys") { request, _ in
      let key = try KeyDocument.read(request.body).key()
      service.withRegistry { $0.register(key) }
      return HTTPServerResponse(status: .noContent)
    }
    routes.add(.post, "/clock") { request, _ in
      service.clock.advance(milliseconds: try ClockDocument.read(request.body).advanceMilliseconds)
      return HTTPServerResponse(status: .noContent)
    }
    addFaults(to: &routes)
  }

  private func addFaults(to routes: inout HTTPRoutes) {
    let (service, connections) = (service, connections)
    routes.add(.post, "/faults") { request, _ in
      let document = try FaultDocument.read(request.body)
      let fault = try document.fault()
      if document.now == true {
        guard fault.concernsConnection else { throw ProblemDetails.unfit("this fault needs a request; leave out now") }
        return try Self.json(Struck(connections: connections.strike(fault)))
      }
      let entry = FaultScript.Entry(fault, skip: max(0, document.skip ?? 0), times: document.times ?? 1)
      guard service.withFaults({ $0.append(entry) }) else {
        throw ProblemDetails.full("too many faults are waiting")
      }
      return HTTPServerResponse(status: .noContent)
    }
    routes.add(.delete, "/faults") { _, _ in
      service.withFaults { $0.removeAll() }
      return HTTPServerResponse(status: .noContent)
    }
  }
}
