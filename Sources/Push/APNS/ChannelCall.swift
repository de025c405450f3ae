internal import APNSCore
internal import FoundationEssentials
internal import HTTP2

/// A request to the management of channels.
struct ChannelCall {
  enum Method: String {
    case get = "GET"
    case post = "POST"
    case delete = "DELETE"
  }

  /// What it is about: the last part of the path.
  enum Subject: String {
    case channels
    case allChannels = "all-channels"
  }

  private let method: Method
  private let path: String
  private let channel: ChannelIdentifier?
  private let body: [UInt8]

  init(
    _ method: Method, _ subject: Subject, of app: BundleIdentifier, channel: ChannelIdentifier? = nil,
    body: [UInt8] = []
  ) {
    self.method = method
    path = "/1/apps/\(app.text)/\(subject.rawValue)"
    self.channel = channel
    self.body = body
  }

  func request(authorization: String) -> HTTP2Request {
    var fields = HTTP2Fields()
    fields.append("authorization", authorization)
    if !body.isEmpty { fields.append("content-type", "application/json") }
    if let channel { fields.append("apns-channel-id", channel.text, isIndexed: false) }
    return HTTP2Request(method: method.rawValue, path: path, fields: fields, body: body)
  }
}

/// What a channel is created with, and what APNs says of it.
struct ChannelDocument: Equatable {
  let storage: ChannelStorage

  init(_ storage: ChannelStorage) { self.storage = storage }

  /// Nil when the bytes are no such document, or name a policy that is not known.
  init?(reading bytes: [UInt8]) {
    guard let known = try? JSONDecoder().decode(Storage.self, from: Data(bytes)),
      let storage = ChannelStorage(rawValue: known.policy)
    else { return nil }
    self.storage = storage
  }

  func encoded() -> [UInt8] {
    Array(#"{"message-storage-policy":\#(storage.rawValue),"push-type":"LiveActivity"}"#.utf8)
  }

  /// The channels of a list; nil when the bytes are none, list more than an app may have, or something that is no channel.
  static func channels(listedIn bytes: [UInt8]) -> [ChannelIdentifier]? {
    guard let list = try? JSONDecoder().decode(List.self, from: Data(bytes)),
      list.channels.count <= APNSChannels.channelsMax
    else { return nil }
    return try? list.channels.map(ChannelIdentifier.init)
  }

  /// The longest list: each identifier with its quotes and a comma, and the rest of the document.
  static let listBytesMax = APNSChannels.channelsMax * (ChannelIdentifier.bytesMax + 3) + 1024

  private struct Storage: Decodable {
    let policy: Int

    private enum CodingKeys: String, CodingKey {
      case policy = "message-storage-policy"
    }
  }

  private struct List: Decodable {
    let channels: [String]
  }
}
