internal import Foundation

/// The rules of loading an image: what may be asked, and what of an answer is taken. An image address comes with a push
/// and its server is unknown, so neither is trusted.
struct ImageDownload: Sendable {
  /// The most bytes of an image. The system takes images of 10 MB.
  static let bytesMax = 10_000_000
  /// The longest address, in bytes.
  static let addressBytesMax = 2048
  /// The most redirects.
  static let redirectsMax = 5

  private var content = Data()
  private var redirects = 0

  /// What has come.
  enum Failure: Error, Hashable {
    case insecure, tooManyRedirects, status, tooLarge, noImage
  }

  /// The address of a text: `https`, with a host and without a user. Nil for another.
  static func address(_ text: String) -> URL? {
    guard text.utf8.count <= addressBytesMax, let url = URL(string: text), isSecure(url) else { return nil }
    return url
  }

  private static func isSecure(_ url: URL?) -> Bool {
    url?.scheme?.lowercased() == "https" && url?.host?.isEmpty == false && url?.user == nil && url?.password == nil
  }

  /// The server sends the client to another address.
  mutating func redirect(to url: URL?) throws(Failure) {
    guard Self.isSecure(url) else { throw .insecure }
    redirects += 1
    guard redirects <= Self.redirectsMax else { throw .tooManyRedirects }
  }

  /// The head of the answer.
  /// - Parameter length: as the server says; negative when it does not.
  func head(status: Int, length: Int64) throws(Failure) {
    guard status == 200 else { throw .status }
    guard length <= Int64(Self.bytesMax) else { throw .tooLarge }
  }

  /// A part of the content.
  mutating func append(_ part: Data) throws(Failure) {
    guard part.count <= Self.bytesMax - content.count else { throw .tooLarge }
    content.append(part)
  }

  /// The whole image.
  func end() throws(Failure) -> Image {
    guard let kind = Self.kind(of: content) else { throw .noImage }
    return Image(content: content, fileExtension: kind)
  }

  /// An image that the system shows in notifications.
  struct Image: Hashable, Sendable {
    let content: Data
    let fileExtension: String
  }

  /// By its first bytes, because the server's name for it proves nothing.
  private static func kind(of content: Data) -> String? {
    let signatures: [(String, [UInt8])] = [
      ("png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("jpg", [0xFF, 0xD8, 0xFF]),
      ("gif", [0x47, 0x49, 0x46, 0x38]),
    ]
    return signatures.first { content.starts(with: $1) }?.0
  }
}
