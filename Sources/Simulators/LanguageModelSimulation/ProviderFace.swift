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

/// Whose interface a request came over.
public enum SimulatedProvider: String, Codable, Sendable, CaseIterable {
  /// `POST /v1/messages`
  case anthropic
  /// `POST /v1/chat/completions`
  case openai
}

/// Why a provider does not let a request in.
struct ModelRefusal: Error, Equatable {
  let status: Int
  /// The provider's word; nil for the one it usually has with the status.
  var type: String?
  /// OpenAI's second word.
  var code: String?
  /// For the developer who reads it. Shows nothing of the request but the names of its members.
  let message: String

  /// The request is none of the interface's.
  static func malformed(_ message: String) -> ModelRefusal {
    ModelRefusal(status: 400, message: message)
  }
}

/// Text in a request, in either of the forms that both interfaces take: a string, or blocks of which each is text.
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

/// One message of a request.
struct PromptMessage: Decodable {
  let role: String
  let content: PromptText
}

extension [PromptMessage] {
  /// The texts of a role, one on each line.
  func text(of role: String) -> String {
    filter { $0.role == role }.map(\.content.text).joined(separator: "\n")
  }

  /// The first role that is none of these.
  func role(outside roles: Set<String>) -> String? {
    first { !roles.contains($0.role) }?.role
  }
}
