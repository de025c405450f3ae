internal import HTTPServing
internal import HTTPTypes
internal import SimulationControl

extension ControlRoutes {
  private struct Struck: Encodable {
    let connections: Int
  }

  private struct Faults: Encodable {
    let waiting: [FaultDocument]
    let met: [FaultRecord]
  }

  func addFaults(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.post, "/faults") { request, reactor in
      let struck = try desk.arrange(FaultDocument.read(request.body), on: reactor)
      return try struck.map { try ControlAnswer.json(Struck(connections: $0)) } ?? ControlAnswer.done
    }
    routes.add(.get, "/faults") { _, _ in
      let waiting = service.withFaults { $0.entries.map { FaultDocument($0) } }
      return try ControlAnswer.json(Faults(waiting: waiting, met: service.metFaults))
    }
    routes.add(.delete, "/faults") { _, _ in
      service.withFaults { $0.removeAll() }
      service.forgetMetFaults()
      return ControlAnswer.done
    }
  }
}
