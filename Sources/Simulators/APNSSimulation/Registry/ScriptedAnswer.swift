/// An answer that takes the place of the one a good push would get, for some pushes in a row.
public struct ScriptedAnswer: Codable, Equatable, Sendable {
  /// The HTTP status; 200 is allowed and means a normal success.
  public var status: Int
  /// The `reason` of the JSON body; nil sends no body unless ``rawBody`` does.
  public var reason: String?
  /// A body sent as it is instead of JSON, as a proxy's error page would be.
  public var rawBody: String?
  /// How many pushes get it, from 1; ``always`` never wears out.
  public var times: Int

  /// As good as for ever.
  public static let always = Int.max

  /// An answer for `times` pushes in a row.
  public init(status: Int, reason: String? = nil, rawBody: String? = nil, times: Int = 1) {
    self.status = status
    self.reason = reason
    self.rawBody = rawBody
    self.times = times
  }

  private enum CodingKeys: String, CodingKey {
    case status, reason, times
    case rawBody = "raw_body"
  }

  /// Reads `{status, reason?, raw_body?, times?}`; `times` is 1 when absent.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    status = try container.decode(Int.self, forKey: .status)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    rawBody = try container.decodeIfPresent(String.self, forKey: .rawBody)
    times = try container.decodeIfPresent(Int.self, forKey: .times) ?? 1
  }
}
