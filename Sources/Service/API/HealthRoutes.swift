internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import Reactors

/// `/healthz` and `/readyz`.
struct HealthRoutes: Sendable {
  let services: PerReactor<PushServices>

  /// The answer of `/readyz`.
  private struct Report: JSONAnswer {
    let ready: Bool
    let checks: [ReadinessCheck]
  }

  private static let healthy = HTTPServerResponse(HTTPServerResponse(json: Array(#"{"status":"ok"}"#.utf8)).prepared)

  /// The process runs and its reactor turns.
  func health(_ request: HTTPServerRequest, on reactor: isolated Reactor) -> HTTPServerResponse { Self.healthy }

  /// 200 when messages are pushed as they should be, 503 with the reasons otherwise.
  func readiness(_ request: HTTPServerRequest, on reactor: isolated Reactor) -> HTTPServerResponse {
    let checks = services.value(on: reactor).readiness()
    let report = Report(ready: checks.allSatisfy(\.isReady), checks: checks)
    return HTTPServerResponse(status: report.ready ? .ok : .serviceUnavailable, json: report.json)
  }
}

package struct ReadinessCheck: Sendable, Encodable {
  /// The part that says which pushes are not sent. It is ready, and for operators to notice all the same.
  package static let shadow = "shadow"

  /// The part that was looked at, such as `database`.
  package let name: String

  package let isReady: Bool

  /// For the operator: what is wrong, or what the settings do without; nil when there is nothing to say.
  package let detail: String?

  private enum CodingKeys: String, CodingKey {
    case name, detail
    case isReady = "ready"
  }

  package init(_ name: String, isReady: Bool, detail: String? = nil) {
    self.name = name
    self.isReady = isReady
    self.detail = detail
  }
}
