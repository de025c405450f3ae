internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

/// One provider's interface.
protocol ProviderFace: SendableMetatype {
  static var provider: SimulatedProvider { get }

  static var path: String { get }

  /// The field with the number of the request.
  static var numberField: HTTPField.Name { get }

  /// The key of a request; nil or empty without one.
  static func key(of request: HTTPServerRequest) -> String?

  static func unauthorized(hasKey: Bool) -> ModelRefusal

  /// Reads a request with the right key.
  static func inquiry(of request: HTTPServerRequest) throws(ModelRefusal) -> ModelInquiry

  static func content(_ output: ModelOutput, model: String, number: Int) -> any Encodable

  static func content(_ refusal: ModelRefusal, number: Int) -> any Encodable
}

extension ProviderFace {
  /// Checks a request.
  /// - Parameter key: the right key; nil accepts any.
  static func admit(_ request: HTTPServerRequest, key: String?) throws(ModelRefusal) -> ModelInquiry {
    let shown = self.key(of: request) ?? ""
    guard !shown.isEmpty, key == nil || shown == key else { throw unauthorized(hasKey: !shown.isEmpty) }
    let inquiry = try inquiry(of: request)
    guard !inquiry.material.isEmpty else { throw .malformed("messages: there is no text of the user") }
    return inquiry
  }

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

  static func response(_ output: ModelOutput, model: String, number: Int) throws -> HTTPServerResponse {
    response(200, try json(content(output, model: model, number: number)), number)
  }

  static func response(
    _ refusal: ModelRefusal, number: Int, fields: [String: String] = [:]
  ) throws -> HTTPServerResponse {
    response(refusal.status, try json(content(refusal, number: number)), number, fields)
  }

  static func response(
    _ status: Int, _ content: some Sequence<UInt8>, _ number: Int, _ more: [String: String] = [:]
  ) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: "application/json", numberField: "req_sim_\(number)"]
    for (name, value) in more { if let name = HTTPField.Name(name) { fields[name] = value } }
    return HTTPServerResponse(status: HTTPResponse.Status(code: status), fields: fields, body: Array(content))
  }

  private static func json(_ value: any Encodable) throws -> [UInt8] {
    try sortedJSON(value, keys: .convertToSnakeCase)
  }
}

/// The interface of a request.
package enum SimulatedProvider: String, Codable, Sendable, CaseIterable {
  /// `POST /v1/messages`
  case anthropic
  /// `POST /v1/chat/completions`
  case openai
}

struct ModelRefusal: Error, Equatable {
  let status: Int
  /// The provider's word; nil for the usual one of the status.
  var type: String?
  /// OpenAI's second word.
  var code: String?
  /// For the developer. Of the request it shows only the names of members.
  let message: String

  static func malformed(_ message: String) -> ModelRefusal {
    ModelRefusal(status: 400, message: message)
  }
}

/// Text in a request. Both interfaces accept a string or blocks of text.
struct PromptText: Decodable {
  let text: String

  private struct Block: Decodable {
    let type: String
    let text: String?
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let string = try? container.decode(String.self) {
      text = string
      return
    }
    let blocks = try container.decode([Block].self)
    guard blocks.allSatisfy({ $0.type == "text" }) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "only blocks of text are simulated")
    }
    text = blocks.compactMap(\.text).joined()
  }
}

struct PromptMessage: Decodable {
  let role: String
  let content: PromptText
}

extension [PromptMessage] {
  /// The texts of a role, one on each line.
  func text(of role: String) -> String {
    filter { $0.role == role }.map(\.content.text).joined(separator: "\n")
  }

  /// The first role outside this set.
  func role(outside roles: Set<String>) -> String? {
    first { !roles.contains($0.role) }?.role
  }
}
