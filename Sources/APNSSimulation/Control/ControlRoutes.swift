internal import FoundationEssentials
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
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

  /// A JSON answer; members in alphabetical order, so that two answers can be compared as text.
  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> HTTPServerResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return HTTPServerResponse(status: status, json: Array(try encoder.encode(value)))
  }

  static let done = HTTPServerResponse(status: .noContent)

  /// A query parameter that is a whole number from 0.
  /// - Returns: nil when it is absent.
  static func number(_ name: String, in request: HTTPServerRequest) throws(ProblemDetails) -> Int? {
    guard let text = request.head.queryValue(name) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ProblemDetails.unfit("\(name) is a whole number from 0")
    }
    return number
  }
}
