internal import HTTPServing
internal import HTTPTypes
internal import SimulationControl

extension ControlRoutes {
  private struct Health: Encodable {
    let status = "ok"
    let pushes: Int
    let connections: Int
  }

  private struct Connections: Encodable {
    let opened: Int
    let refused: Int
    let open: [ConnectionSummary]
  }

  func addServer(to routes: inout HTTPRoutes) {
    let (service, connections) = (service, connections)
    routes.add(.get, "/healthz") { _, _ in
      try ControlAnswer.json(Health(pushes: service.withLog { $0.total }, connections: connections.open.count))
    }
    routes.add(.get, "/connections") { _, _ in
      let (opened, refused) = (connections.openedCount, connections.refusedCount)
      return try ControlAnswer.json(Connections(opened: opened, refused: refused, open: connections.open))
    }
    addRegistrations(to: &routes)
    addConduct(to: &routes)
  }

  private func addRegistrations(to routes: inout HTTPRoutes) {
    let desk = desk
    routes.add(.post, "/keys") { request, _ in
      try desk.register(KeyDocument.read(request.body))
      return ControlAnswer.done
    }
    routes.add(.post, "/bundles") { request, _ in
      desk.register(try BundleDocument.read(request.body))
      return ControlAnswer.done
    }
    routes.add(.post, "/certificates") { request, _ in
      try desk.register(CertificateDocument.read(request.body))
      return ControlAnswer.done
    }
  }

  private func addConduct(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, service)
    routes.add(.post, "/clock") { request, _ in
      try desk.move(ClockDocument.read(request.body))
      return ControlAnswer.done
    }
    routes.add(.get, "/conduct") { _, _ in
      try ControlAnswer.json(ConductDocument(service.conduct, service.withRegistry { $0.tokenRate }))
    }
    routes.add(.post, "/conduct") { request, _ in
      try desk.change(ConductDocument.read(request.body))
      return ControlAnswer.done
    }
  }
}
