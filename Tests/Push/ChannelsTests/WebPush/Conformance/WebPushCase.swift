import Foundation
import Testing
import Yams

/// One case of the list: a request, the service's answer, and what a sender makes of it.
struct WebPushCase: Decodable, Sendable, CustomStringConvertible {
  struct Expectation: Decodable, Sendable {
    let status: Int
    let apple_reason: String?
    let headers: [String: String]?
    let headers_present: [String]?
  }

  struct Request: Decodable, Sendable {
    /// Nil for none in the list; a nil value removes a field.
    let headers: [String: String?]?
    let path: String?
    let vapid: VAPID?
    let isWithoutVAPID: Bool
    let encryptedBytes: Int?

    private enum CodingKeys: String, CodingKey {
      case headers, path, vapid, body
    }

    private struct Body: Decodable {
      let encrypted_total_bytes: Int?
    }

    private struct Value: Decodable {
      let text: String

      private struct Repeated: Decodable {
        let unit: String
        let times: Int
      }

      init(from decoder: any Decoder) throws {
        let repeated = try? Repeated(from: decoder)
        text =
          try repeated.map { String(repeating: $0.unit, count: $0.times) }
          ?? decoder.singleValueContainer().decode(String.self)
      }
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      headers = try values.decodeIfPresent([String: Value?].self, forKey: .headers)?.mapValues { $0?.text }
      path = try values.decodeIfPresent(String.self, forKey: .path)
      vapid = try values.decodeIfPresent(VAPID.self, forKey: .vapid)
      isWithoutVAPID = values.contains(.vapid) && vapid == nil
      encryptedBytes = try values.decodeIfPresent(Body.self, forKey: .body)?.encrypted_total_bytes
    }
  }

  struct VAPID: Decodable, Sendable {
    let aud: String?
    let exp_offset_s: Int64?
    let key: String?
  }

  let id: String
  let title: String
  let req: Request
  let exp: Expectation
  let accept_also: [Expectation]?
  let client: String

  var description: String { "\(id) \(title)" }

  private struct List: Decodable {
    let webpush_cases: [WebPushCase]
  }

  static let all: [WebPushCase] = {
    let url = Bundle.module.url(forResource: "web-push-cases", withExtension: "yaml")!
    return try! YAMLDecoder().decode(List.self, from: Data(contentsOf: url)).webpush_cases
  }()
}
