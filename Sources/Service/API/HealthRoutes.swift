internal import HTTPServing
internal import HTTPTypes
internal import Reactors

/// `/healthz` and `/readyz`.
struct HealthRoutes: Sendable {
  let services: PerReactor<PushServices>

  /// The answer of `/readyz`.
  private struct Report: JSONAnswer {
    struct Check: Encodable {
      let name: String
      let ready: Bool
      let detail: String?
    }

    let ready: Bool
    let checks: [Check]
  }

  private static let healthy = HTTPServerResponse(HTTPServerResponse(json: Array(#"{"status":"ok"}"#.utf8)).prepared)

  /// The process runs and its reactor turns.
  func health(_ request: HTTPServerRequest, on reactor: isolated Reactor) -> HTTPServerResponse { Self.healthy }

  /// 200 when messages are pushed as they should be, 503 with the reasons otherwise.
  func readiness(_ request: HTTPServerRequest, on reactor: isolated Reactor) -> HTTPServerResponse {
    let checks = services.value(on: reactor).readiness()
    let report = Report(
      ready: checks.allSatisfy(\.isReady),
      checks: checks.map { Report.Check(name: $0.name, ready: $0.isReady, detail: $0.detail) })
    return HTTPServerResponse(status: report.ready ? .ok : .serviceUnavailable, json: report.json)
  }
}
