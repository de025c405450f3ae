internal import FoundationEssentials
internal import SimulationControl

/// The body of a request that creates a channel, and of the response to one that reads it.
struct ChannelConfiguration: Encodable, Equatable {
  let policy: SimulatedChannel.StoragePolicy
  let pushType: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case policy = "message-storage-policy"
    case pushType = "push-type"
  }

  /// The only push type of channels, in the spelling of this body.
  private static let liveActivity = "LiveActivity"
  /// Far more than the two members need.
  private static let bytesMax = 4096

  init(_ policy: SimulatedChannel.StoragePolicy) {
    self.policy = policy
    pushType = Self.liveActivity
  }

  /// Reads the body of a request. Source: "Handling error responses from Apple Push Notification service" (Apple).
  init(_ request: InspectedRequest) throws(Refusal) {
    guard request.bodyBytes <= Self.bytesMax else { throw .payloadTooLarge }
    guard let outline = try? JSONDecoder().decode(Outline.self, from: Data(request.body)) else {
      throw .badRequest("BadRequestPayload")
    }
    guard outline.names.isSubset(of: CodingKeys.allCases.map(\.rawValue)) else { throw .badRequest("BadRequestParams") }
    guard outline.names.contains(CodingKeys.pushType.rawValue) else { throw .badRequest("MissingPushType") }
    guard outline.pushType == Self.liveActivity else { throw .badRequest("InvalidPushType") }
    guard let policy = outline.policy else { throw .badRequest("MissingChannelQueueSize") }
    self.init(policy)
  }

  private struct Outline: Decodable {
    let names: Set<String>
    /// Nil when it is missing or no text.
    let pushType: String?
    /// Nil when it is missing or unknown.
    let policy: SimulatedChannel.StoragePolicy?

    init(from decoder: any Decoder) throws {
      names = Set(try decoder.container(keyedBy: MemberName.self).allKeys.map(\.stringValue))
      let container = try decoder.container(keyedBy: CodingKeys.self)
      pushType = try? container.decode(String.self, forKey: .pushType)
      policy = try? container.decode(SimulatedChannel.StoragePolicy.self, forKey: .policy)
    }
  }

  var json: [UInt8] { (try? sortedJSON(self)) ?? [] }
}
