public import Foundation

/// Loads the image of a push in the app's notification service extension. If anything fails, the push shows its text alone.
///
///     final class NotificationService: UNNotificationServiceExtension {
///       override func didReceive(
///         _ request: UNNotificationRequest, withContentHandler handler: @escaping (UNNotificationContent) -> Void
///       ) {
///         Task { handler(await NotificationServiceContent().content(of: request)) }
///       }
///     }
public struct NotificationServiceContent: Sendable {
  /// The longest time for an image. The system ends an extension after about 30 seconds.
  static let lifetime = Duration.seconds(20)

  private let folder: URL
  private let load: @Sendable (URL) async throws -> ImageDownload.Image
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter folder: for the image. The system moves it from there.
  public init(folder: URL = FileManager.default.temporaryDirectory) {
    self.init(folder: folder, load: { try await ImageTransfer.load($0) }) { try await Task.sleep(for: $0) }
  }

  init(
    folder: URL, load: @escaping @Sendable (URL) async throws -> ImageDownload.Image,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.folder = folder
    self.load = load
    self.sleep = sleep
  }

  /// Loads the image of a push: PNG, JPEG or GIF, at most 10 MB, by `https` alone, within 20 seconds.
  /// - Returns: a new file; nil when the push has no image or it could not be loaded.
  public func image(of content: PushContent) async -> URL? {
    guard let address = content.imageURL, let image = await loadInTime(address) else { return nil }
    let file = folder.appendingPathComponent("\(UUID().uuidString).\(image.fileExtension)")
    do { try image.content.write(to: file) } catch { return nil }
    return file
  }

  /// Whichever ends first counts: the transfer or the time.
  private func loadInTime(_ address: URL) async -> ImageDownload.Image? {
    await withTaskGroup(of: ImageDownload.Image?.self) { [load, sleep] group in
      group.addTask { try? await load(address) }
      group.addTask {
        try? await sleep(Self.lifetime)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}

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
