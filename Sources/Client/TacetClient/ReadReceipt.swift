internal import Foundation

/// What a call that marks messages as read has done.
public struct ReadReceipt: Hashable, Sendable, Decodable {
  /// Messages that were marked by this call.
  public let read: Int

  /// Messages the user has not read, in all conversations.
  public let badge: Int

  init(content: Data) throws(PushServiceError) {
    guard let receipt = try? JSONDecoder().decode(Self.self, from: content) else { throw PushServiceError(.refused) }
    self = receipt
  }
}

/// The content of such a call.
struct ReadMark: Encodable {
  let upTo: String?
  let deviceToken: String?

  private enum CodingKeys: String, CodingKey {
    case upTo = "up_to_message_id"
    case deviceToken = "device_token"
  }
}
