internal import FoundationEssentials
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import SimulationControl

/// One provider's interface, as its clients see it.
protocol ProviderFace: SendableMetatype {
  static var provider: SimulatedProvider { get }

  /// Where it is asked.
  static var path: String { get }

  /// The field with the number of the request.
  static var numberField: HTTPField.Name { get }

  /// The key that a request shows; nil or empty when it shows none.
  static func key(of request: HTTPServerRequest) -> String?

  /// What is said to a request with another key, or none.
  static func unauthorized(hasKey: Bool) -> ModelRefusal

  /// Judges a request whose key is right.
  static func inquiry(of request: HTTPServerRequest) throws(ModelRefusal) -> ModelInquiry

  /// A successful answer.
  static func content(_ output: ModelOutput, model: String, number: Int) throws -> Data

  /// The answer to what is not let in, and to what fails.
  static func content(_ refusal: ModelRefusal, number: Int) throws -> Data
}

extension ProviderFace {
  /// Lets a request in, or says why not.
  /// - Parameter key: the right one; nil for any.
  static func admit(_ request: HTTPServerRequest, key: String?) throws(ModelRefusal) -> ModelInquiry {
    let shown = self.key(of: request) ?? ""
    guard !shown.isEmpty, key == nil || shown == key else { throw unauthorized(hasKey: !shown.isEmpty) }
    let inquiry = try inquiry(of: request)
    guard !inquiry.material.isEmpty else { throw .malformed("messages: there is no text of the user") }
    return inquiry
  }

  /// Reads a request's JSON.
  static func read<Document: ControlDocument>(
    _ type: Document.Type, of request: HTTPServerRequest
  ) throws(ModelRefusal) -> Document {
    guard request.head[.contentType]?.lowercased().hasPrefix("application/json") == true else {
      throw .malformed("the content is to be application/json")
    }
    do throws(ProblemDetails) {
      return try Document.read(request.body)
    } catch {
      throw .malformed(error.detail ?? error.title)
    }
  }

  /// A successful answer with its fields.
  static func response(_ output: ModelOutput, model: String, number: Int) throws -> HTTPServerResponse {
    response(200, try content(output, model: model, number: number), number)
  }

  /// A failure with its fields.
  static func response(
    _ refusal: ModelRefusal, number: Int, fields: [String: String] = [:]
  ) throws -> HTTPServerResponse {
    response(refusal.status, try content(refusal, number: number), number, fields)
  }

  /// Content as it is.
  static func response(
    _ status: Int, _ content: some Sequence<UInt8>, _ number: Int, _ more: [String: String] = [:]
  ) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: "application/json", numberField: "req_sim_\(number)"]
    for (name, value) in more { if let name = HTTPField.Name(name) { fields[name] = value } }
    return HTTPServerResponse(status: HTTPResponse.Status(code: status), fields: fields, body: Array(content))
  }

  /// JSON with the members in alphabetical order.
  static func json(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}
